/** Pure helpers of the departure board. */

/** Whole minutes until a departure, delays included; negative once it has left. */
export function minutesUntil(departure, now) {
  return Math.floor((departure.time + (departure.delay ?? 0) - now) / 60_000);
}

/** Departures that have not left, soonest first. */
export function sortDepartures(departures, now) {
  return departures
    .filter((departure) => minutesUntil(departure, now) >= 0)
    .sort((a, b) => minutesUntil(a, now) - minutesUntil(b, now));
}
