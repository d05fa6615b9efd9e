import { expect } from 'chai'
import {
  normaliseResult,
  ResultProblem,
  type ResultVersion,
} from '../../../../src/run/handlers/code/normalise-result.ts'
import { ExactNumber, type Json } from '../../../../src/base/json/json.ts'

const PROBLEM = Symbol('problem')

/** What evaluate returned, and the outputs in version 2 (and 1) and 3 (interface 11.14), with a threshold of 0.5. */
const RESULTS: readonly (readonly [result: Json | undefined, scored: unknown, free: unknown])[] = [
  [0.7, { score: 0.7, success: true }, { score: 0.7, success: true }],
  [0.5, { score: 0.5, success: true }, { score: 0.5, success: true }],
  [0, { score: 0, success: false }, { score: 0, success: false }],
  [-3, { score: -3, success: false }, { score: -3, success: false }],
  [new ExactNumber('1.0'), { score: 1, success: true }, { score: 1, success: true }],
  [new ExactNumber('1e999'), PROBLEM, PROBLEM],
  [true, { score: 1, success: true }, { success: true }],
  [false, { score: 0, success: false }, { success: false }],
  ['0.25', { score: 0.25, success: false }, '0.25'],
  [' +1e0\n', { score: 1, success: true }, ' +1e0\n'],
  ['1e999', PROBLEM, '1e999'],
  ['good', PROBLEM, 'good'],
  ['', PROBLEM, ''],
  ['0x10', PROBLEM, '0x10'],
  ['nan', PROBLEM, 'nan'],
  [{ score: 1 }, PROBLEM, { score: 1 }],
  [[1], PROBLEM, [1]],
  [null, PROBLEM, PROBLEM],
  [undefined, PROBLEM, PROBLEM],
]

describe('handlers: what evaluate returned', () => {
  const outcome = (result: Json | undefined, version: ResultVersion): unknown => {
    try {
      return normaliseResult(result, version, 0.5)
    } catch (error) {
      expect(error).to.be.instanceOf(ResultProblem)
      return PROBLEM
    }
  }

  for (const [result, scored, free] of RESULTS)
    it(`makes outputs of ${JSON.stringify(result) ?? 'nothing'}`, () => {
      expect(outcome(result, '1')).to.deep.equal(scored)
      expect(outcome(result, '2')).to.deep.equal(scored)
      expect(outcome(result, '3')).to.deep.equal(free)
    })
})
