/** Every change of state, as one pure function. */

import { Priority } from "./types";
import type { Filter, State, Todo } from "./types";

export type Action =
  | { type: "added"; id: string; title: string }
  | { type: "toggled"; id: string }
  | { type: "removed"; id: string }
  | { type: "filtered"; filter: Filter }
  | { type: "synced"; todos: Todo[] }
  | { type: "undone" };

export const initialState: State = { todos: {}, filter: "all", undo: [] };

const UNDO_DEPTH = 20;

/** The state after an action; the old state is never touched. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "added": {
      const todo = parseTitle(action.id, action.title);
      return remember(state, { ...state.todos, [todo.id]: todo });
    }
    case "toggled": {
      const todo = state.todos[action.id];
      return remember(state, { ...state.todos, [todo.id]: { ...todo, done: !todo.done } });
    }
    case "removed": {
      const { [action.id]: _removed, ...rest } = state.todos;
      return remember(state, rest);
    }
    case "filtered":
      return { ...state, filter: action.filter };
    case "synced":
      return { ...state, todos: mergeServerTodos(state.todos, action.todos) };
    case "undone":
      return undoLast(state);
  }
}

/** Pushes the present todos on the undo stack and drops the oldest beyond the depth. */
function remember(state: State, todos: Record<string, Todo>): State {
  const undo = [...state.undo, Object.values(state.todos)].slice(-UNDO_DEPTH);
  return { ...state, todos, undo };
}

function undoLast(state: State): State {
  const previous = state.undo.at(-1);
  if (previous === undefined) {
    return state;
  }
  return { ...state, todos: byId(previous), undo: state.undo.slice(0, -1) };
}

function byId(todos: Todo[]): Record<string, Todo> {
  return Object.fromEntries(todos.map((todo) => [todo.id, todo]));
}

/** Resolves conflicts: what the server sent wins over the local copy. */
export function mergeServerTodos(
  local: Record<string, Todo>,
  remote: Todo[],
): Record<string, Todo> {
  return { ...local, ...byId(remote) };
}

/** Reads shorthand: exclamation marks at the end of a title make a todo urgent. */
export const parseTitle = (id: string, text: string): Todo => {
  const title = text.replace(/!+$/, "").trim();
  const priority = text.endsWith("!") ? Priority.Urgent : Priority.Normal;
  return { id, title, done: false, priority, due: null };
};
