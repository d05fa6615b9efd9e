import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { readFreeThreshold, readLooseThreshold, readThreshold } from '../../../../src/run/handlers/scoring.ts'
import { ExactNumber, type Json } from '../../../../src/base/json/json.ts'

const NONE = 'none'

/** A threshold, and what it is to evaluators, to judges and to custom code (interface 11.4, 11.14); `NONE` is a failure. */
const THRESHOLDS: readonly (readonly [
  value: Json | undefined,
  strict: number | string,
  free: number | string,
  loose: number | string,
])[] = [
  [undefined, 0.5, 0.5, 0.5],
  [null, 0.5, 0.5, 0.5],
  ['', 0.5, 0.5, 0.5],
  [false, 0.5, 0.5, NONE],
  [[], 0.5, 0.5, NONE],
  [{}, 0.5, 0.5, NONE],
  [0, 0.5, 0.5, 0],
  [0.7, 0.7, 0.7, 0.7],
  [1, 1, 1, 1],
  [new ExactNumber('1.0'), 1, 1, 1],
  [2, NONE, 2, 2],
  [-1, NONE, -1, -1],
  ['0.8', NONE, NONE, 0.8],
  [' +8e-1 ', NONE, NONE, 0.8],
  ['0x1', NONE, NONE, NONE],
  ['1e400', NONE, NONE, NONE],
  [' ', NONE, NONE, NONE],
  [true, NONE, NONE, NONE],
  [[1], NONE, NONE, NONE],
]

describe('handlers: thresholds', () => {
  const outcome = (read: (value: Json | undefined) => number, value: Json | undefined): number | string => {
    try {
      return read(value)
    } catch (error) {
      expect(error).to.be.instanceOf(HandlerFailure).with.property('id', 'v0:schemas:invalid-parameter')
      expect(error).to.have.property('message').that.includes("At 'threshold'")
      return NONE
    }
  }

  for (const [value, ...expected] of THRESHOLDS)
    // interface 11.4
    it(`reads ${JSON.stringify(value) ?? 'nothing'}`, () => {
      const readers = [readThreshold, readFreeThreshold, readLooseThreshold]
      expect(readers.map((read) => outcome(read, value))).to.deep.equal(expected)
    })
})
