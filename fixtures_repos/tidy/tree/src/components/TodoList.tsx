/** The list with its filter bar. */

import React, { useMemo } from "react";
import { visibleTodos } from "../state/selectors";
import type { Filter, State } from "../state/types";
import { TodoItem } from "./TodoItem";

interface TodoListProps {
  state: State;
  onToggle: (id: string) => void;
  onFilter: (filter: Filter) => void;
}

const FILTERS: Filter[] = ["all", "open", "done", "overdue"];

/** Shows the visible todos, or an encouraging sentence when there are none. */
export function TodoList({ state, onToggle, onFilter }: TodoListProps) {
  const todos = useMemo(() => visibleTodos(state, Date.now()), [state]);
  return (
    <section aria-label="Todos">
      <FilterBar active={state.filter} onFilter={onFilter} />
      {todos.length === 0 ? (
        <EmptyState filter={state.filter} />
      ) : (
        <ul>
          {todos.map((todo) => (
            <TodoItem key={todo.id} todo={todo} onToggle={onToggle} />
          ))}
        </ul>
      )}
    </section>
  );
}

function FilterBar({ active, onFilter }: { active: Filter; onFilter: (filter: Filter) => void }) {
  return (
    <nav>
      {FILTERS.map((filter) => (
        <button key={filter} aria-pressed={filter === active} onClick={() => onFilter(filter)}>
          {filter}
        </button>
      ))}
    </nav>
  );
}

const EmptyState = ({ filter }: { filter: Filter }) => (
  <p>{filter === "overdue" ? "Nothing is late. Well done!" : "Nothing to do here."}</p>
);
