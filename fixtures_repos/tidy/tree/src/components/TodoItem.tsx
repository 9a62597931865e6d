import React from "react";
import { formatDue, Priority } from "../state/types";
import type { Todo } from "../state/types";

interface TodoItemProps {
  todo: Todo;
  onToggle: (id: string) => void;
}

/** One row: check box, title and deadline. */
export const TodoItem = React.memo(function TodoItem({ todo, onToggle }: TodoItemProps) {
  const label = todo.due === null ? "" : formatDue(todo.due, Date.now());
  return (
    <li className={todo.priority === Priority.Urgent ? "urgent" : undefined}>
      <label>
        <input type="checkbox" checked={todo.done} onChange={() => onToggle(todo.id)} />
        {todo.title}
      </label>
      <time>{label}</time>
    </li>
  );
});

/** Catches errors of the rows below, so that one broken todo does not blank the page. */
export class RowBoundary extends React.Component<{ children: React.ReactNode }, { failed: boolean }> {
  state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  render() {
    return this.state.failed ? <li>This todo cannot be shown.</li> : this.props.children;
  }
}
