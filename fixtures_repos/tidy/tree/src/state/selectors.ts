/** Questions about the state. */

import type { State, Todo } from "./types";

const RANK = { urgent: 0, normal: 1, low: 2 } as const;

/** Todos that the filter lets through, urgent ones first, then by deadline. */
export function visibleTodos(state: State, now: number): Todo[] {
  return Object.values(state.todos)
    .filter((todo) => passes(todo, state.filter, now))
    .sort(
      (a, b) =>
        RANK[a.priority] - RANK[b.priority] || (a.due ?? Infinity) - (b.due ?? Infinity),
    );
}

function passes(todo: Todo, filter: State["filter"], now: number): boolean {
  switch (filter) {
    case "all":
      return true;
    case "open":
      return !todo.done;
    case "done":
      return todo.done;
    case "overdue":
      return !todo.done && todo.due !== null && todo.due < now;
  }
}

/** The share of todos that are done, from 0 to 1; an empty list counts as finished. */
export function completion(state: State): number {
  const todos = Object.values(state.todos);
  return todos.length === 0 ? 1 : todos.filter((todo) => todo.done).length / todos.length;
}
