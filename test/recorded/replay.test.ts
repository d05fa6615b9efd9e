import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { coverageOf } from './harness/coverage.ts'
import { operationNames } from './harness/operation-names.ts'
import { differenceFrom, keptSteps, type Played, playAll } from './harness/recordings.ts'
import { CODES_WITHOUT, OPERATIONS_WITHOUT_SUCCESS } from './harness/gaps.ts'
import { SCENARIOS } from './scenarios.ts'

describe('recorded answers', () => {
  const played = new Map<string, Played>()
  before(() => playAll(SCENARIOS, (it) => played.set(it.scenario.name, it)))

  for (const { name } of SCENARIOS) {
    it(`${name} answers as it was recorded`, () => {
      const it = played.get(name)
      const difference = it ? differenceFrom(it) : 'it was not played'
      if (difference !== undefined)
        expect.fail(`${difference}\n\nWhere the answer is meant to change: npm run record ${name}`)
    })
  }

  it('reach every operation with a success and every refusal, but for the gaps that are listed', async () => {
    const { withoutSuccess, codesWithout } = coverageOf(keptSteps(), await operationNames())
    expect([...withoutSuccess].sort()).to.deep.equal(Object.keys(OPERATIONS_WITHOUT_SUCCESS).sort())
    expect([...codesWithout].sort()).to.deep.equal(Object.keys(CODES_WITHOUT).sort())
  })

  const gaps = { ...OPERATIONS_WITHOUT_SUCCESS, ...CODES_WITHOUT }
  for (const [what, { test }] of Object.entries(gaps))
    it(`leave ${what} to ${test}`, () => {
      const word = what.includes(' ') ? (what.split('/').at(-1) ?? '') : what
      expect(readFileSync(test, 'utf8')).to.include(word.replace('{slug}', ''))
    })
})
