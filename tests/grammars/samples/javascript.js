// Orders parcels.
'use strict';

const fs = require('fs');

/** How many fit. */
export const CAPACITY = 12;
let counter = 0, limit;
var first = 1,
  // second of all
  second = function () { return first; };
const { left, right: renamed, ...others } = fs;
const [head, tail] = [1, 2];

/**
 * Sorts parcels.
 */
export async function sort(parcels, order = {}) {
  const local = 1;
  const byWeight = (parcel) => parcel.weight;
  function swap(a, b) { let inner; }
  depot.each({ ignored: () => local });
  return { compare() { return byWeight; }, weigh: () => local };
}

function* walk() { yield 1; }

export const double = (value) => value * 2;
const triple = async function named(value) { return value * 3; };
const Mixin = class extends Object { mixed() {} };
double.twice = function () {};
Parcel.prototype.weigh = function weigh() {
  this.scale = () => 1;
};
exports.load = function () {};
exports.version = '1';
module.exports.save = () => {};
module.exports = { sort, helper() {} };
late = function () {};
exports['store-all'] = function () {};
depot.Shelf = class Named { put() {} };

// One parcel.
@decorated({ level: 1 })
export class Parcel extends Base {
  static #count = 0;
  label = 'none';
  onClick = (event) => { const inside = event; };
  handler = function () {};

  constructor(weight) {
    super();
    this.weight = weight;
  }

  /** Whether it is heavy. */
  get heavy() { return this.weight > 30; }
  set heavy(value) { this.weight = value ? 40 : 1; }
  static async *all() {}
  'quoted name'() {}
  [Symbol.iterator]() {}
  #secret() {}
  static { const hidden = 1; }
}

const depot = {
  name: 'depot',
  open() {},
  close: function () {},
  'lock-up': () => {},
  get state() { return 1; },
  nested: { deep() {} },
};

if (counter) {
  function conditional() {}
}

(function () {
  var wrapped = 1;
  function insideWrapper() {}
})();

describe('depot', () => {
  const shared = 1;
  it('stores parcels', async () => {
    await depot.open();
  });
  test.only("opens", function () {});
  it.each([1, 2])(`it's ${1} of`, { retry: 2 }, (n) => {});
  test.skipIf(late).each([1])('a "quoted" title', () => {});
  store('is no test', () => {});
});

QUnit.test('weighs', function (assert) {});

function one() {} function two() {}

/** The default. */
export default function () { return 1; }
