/** Parcels in a depot. */
import type { Base } from './base';

/** A weight. */
export type Weight = number | { kg: number };
type Callback<T> = (value: T) => void;

export interface Store<T> extends Iterable<T> {
  readonly size: number;
  /** Stores one. */
  put(item: T): boolean;
  get?(id: string): T;
  (call: string): void;
}

export enum Size { Small, Large = 2 }
declare const enum Color { Red }
declare const VERSION: string;
declare function external(name: string): void;

// Overloads follow.
export function parse(text: string): Weight;
export function parse(text: number): Weight;
export function parse(text: any): Weight {
  const local: number = 1;
  const inner = <T,>(value: T): T => value;
  return inner(text);
}

export abstract class Shelf<T> implements Store<T> {
  static readonly LIMIT = 5;
  private items: T[] = [];
  declare brand: string;
  onChange = (item: T): void => {};

  constructor(private readonly size: number) {}

  put(item: T): boolean;
  /** Stores one. */
  @logged()
  put(item: any): boolean { return true; }

  abstract weigh(): Weight;
  protected async load<K extends keyof T>(key: K): Promise<T[K]> {
    return null!;
  }
  get full(): boolean { return false; }
}

@Component({ selector: 'parcel' })
export class Parcel {}

export namespace depot.inner {
  export const NAME = 'depot';
  export function open(): void {}
  class Hidden { run() {} }
}

declare module 'parcels' {
  export function load(path: string): void;
  interface Options { deep: boolean }
}

declare global {
  interface Window { depot: string }
}

export const useDepot = (options: Options = {}) => {
  return { open: () => {}, close(): void {} };
};
export const routes: Route[] = [{ path: '/', component: () => import('./x') }];
let pending: string | undefined, other = 1;
const total = <const>[1, 2];

export default class extends Parcel {
  method(): void {}
}
declare function open(path: string): Store;
/** Opens many. */
declare function open(paths: string[]): Store[];
interface Events {
  on(name: 'put', listener: () => void): this;
  on(name: 'get', listener: () => void): this;
  off(): void;
  get size(): number;
  set size(value: number);
}
export = Parcel;
