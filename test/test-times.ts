import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

/**
 * Notes how long each file of tests took, hooks included: one line of JSON for each in the file that TEST_TIMES names. `npm run test:times`
 * makes test/times.json of them, by which .mocharc.cjs starts the longest file first.
 */
let began = 0

export const mochaHooks = {
  beforeAll(): void {
    began = performance.now()
  },
  afterAll(this: Mocha.Context): void {
    const file = this.test?.parent?.suites[0]?.file
    if (!file) return
    const line = { file: relative('dist', file), ms: Math.round(performance.now() - began) }
    appendFileSync(process.env['TEST_TIMES'] ?? '', `${JSON.stringify(line)}\n`)
  },
}
