/** Changes that the server has not seen yet, kept in local storage. */

import { RequestError, TodoClient } from "./client";
import type { Todo } from "../state/types";

export type Change =
  | { kind: "save"; todo: Todo }
  | { kind: "remove"; id: string };

const STORAGE_KEY = "tidy.outbox.v2";

export class Outbox {
  private changes: Change[];

  constructor(private readonly storage: Storage) {
    this.changes = JSON.parse(storage.getItem(STORAGE_KEY) ?? "[]") as Change[];
  }

  /** Queues a change; a later save of the same todo replaces an earlier one. */
  push(change: Change): void {
    if (change.kind === "save") {
      this.changes = this.changes.filter(
        (old) => old.kind !== "save" || old.todo.id !== change.todo.id,
      );
    }
    this.changes.push(change);
    this.persist();
  }

  /** Sends everything in order and stops at the first failure that may heal; the number of changes sent. */
  async flush(client: TodoClient): Promise<number> {
    let sent = 0;
    while (this.changes.length > 0) {
      try {
        await deliver(client, this.changes[0]);
      } catch (error) {
        if (error instanceof RequestError && error.retryable) {
          break;
        }
      }
      this.changes.shift();
      this.persist();
      sent += 1;
    }
    return sent;
  }

  private persist(): void {
    this.storage.setItem(STORAGE_KEY, JSON.stringify(this.changes));
  }
}

async function deliver(client: TodoClient, change: Change): Promise<void> {
  if (change.kind === "save") {
    await client.save(change.todo);
  } else {
    await client.remove(change.id);
  }
}
