/** The shapes that the whole client shares. */

export enum Priority {
  Low = "low",
  Normal = "normal",
  Urgent = "urgent",
}

export interface Todo {
  id: string;
  title: string;
  done: boolean;
  priority: Priority;
  /** Milliseconds since 1970, or null for a todo without a deadline. */
  due: number | null;
}

export type Filter = "all" | "open" | "done" | "overdue";

export interface State {
  todos: Record<string, Todo>;
  filter: Filter;
  undo: Todo[][];
}

/** Formats a deadline relative to now: `in 3 hours`, `2 days late`. */
export function formatDue(due: number, now: number): string;
export function formatDue(due: null, now: number): "";
export function formatDue(due: number | null, now: number): string {
  if (due === null) {
    return "";
  }

  const hours = Math.round(Math.abs(due - now) / 3_600_000);
  const amount = hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
  return due >= now ? `in ${amount}` : `${amount} late`;
}
