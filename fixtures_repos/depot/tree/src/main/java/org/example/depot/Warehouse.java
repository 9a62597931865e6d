package org.example.depot;

/** The buildings that we rent. */
public enum Warehouse {
    NORTH("Nordhafen", 53.56),
    CITY("Altstadt", 53.55),
    AIRPORT("Flughafen", 53.63);

    private final String label;
    private final double latitude;

    Warehouse(String label, double latitude) {
        this.label = label;
        this.latitude = latitude;
    }

    public String label() {
        return label;
    }

    /** The building nearest to a latitude; good enough for a city that stretches from north to south. */
    public static Warehouse nearest(double latitude) {
        Warehouse best = NORTH;
        for (Warehouse candidate : values()) {
            if (Math.abs(candidate.latitude - latitude) < Math.abs(best.latitude - latitude)) {
                best = candidate;
            }
        }
        return best;
    }
}
