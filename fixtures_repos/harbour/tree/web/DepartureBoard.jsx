import React from "react";
import { minutesUntil, sortDepartures } from "./departures.js";

/** The board in the waiting room: the next ferries, cancelled ones struck out. */
export function DepartureBoard({ departures, now, rows = 8 }) {
  const next = sortDepartures(departures, now).slice(0, rows);
  return (
    <table>
      <caption>Departures</caption>
      <tbody>
        {next.map((departure) => (
          <DepartureRow key={departure.id} departure={departure} now={now} />
        ))}
      </tbody>
    </table>
  );
}

const DepartureRow = ({ departure, now }) => (
  <tr className={departure.cancelled ? "cancelled" : ""}>
    <td>{departure.destination}</td>
    <td>{minutesUntil(departure, now)} min</td>
    <td>Pier {departure.pier}</td>
  </tr>
);
