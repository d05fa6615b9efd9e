import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readBenchOptions, SECTIONS } from '../../bench/bench-options.ts'
import { measureTree } from '../../../test/support/servers/child-server.ts'
import { readReport } from '../../bench/figures/report.ts'
import { UsageError } from '../../../src/cli/command/usage-error.ts'

describe('npm run bench: refusals', () => {
  it('names the argument that is wrong, its value, and what it may be', () => {
    const refused = (...args: readonly string[]) => sentenceOf(() => readBenchOptions(args))
    expect(refused('--only', 'reads,commit')).to.equal(
      `--only names "commit"; there are ${SECTIONS.join(', ')}.`,
    )
    expect(refused('--rounds', '0')).to.equal('--rounds is "0"; give a number above 0.')
    expect(refused('--rounds', '2.5')).to.equal('--rounds is 2.5; give a whole number.')
    expect(refused('--artifacts', '10,many')).to.equal('--artifacts is "many"; give a number above 0.')
    expect(refused('--compere', 'old.json')).to.contain("Unknown option '--compere'")
  })

  it('measures no tree that is not built', () => {
    expect(sentenceOf(() => measureTree(tmpdir(), 'usage'))).to.equal(
      `--tree is "${tmpdir()}", which has no dist/src/main.js; build it first.`,
    )
  })

  it('takes sections once and sizes from few to many', () => {
    const options = readBenchOptions([
      '--only',
      'reads,history,reads',
      '--artifacts',
      '100,20',
      '--seconds',
      '.5',
    ])
    expect(options).to.deep.include({
      only: ['reads', 'history'],
      artifacts: [20, 100],
      seconds: 0.5,
      rounds: 5,
    })
  })

  it('says why a file is no report', () => {
    const folder = mkdtempSync(join(tmpdir(), 'report-'))
    const file = join(folder, 'old.json')
    const refused = (text: string) => {
      writeFileSync(file, text)
      return sentenceOf(() => readReport(file, 'usage')).replace(file, 'FILE')
    }
    try {
      expect(refused('| work |')).to.equal(
        'FILE cannot be compared with: it is not JSON. Name a file that --json wrote.',
      )
      expect(refused('[{"work": "commit", "figure": "4 ×"}]')).to.contain('no report of a bench (the whole: ')
      expect(refused('{"machine": {"date": "yesterday"}}')).to.contain('no report of a bench (machine.date: ')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

/** The first line that a UsageError says; the usage comes after it. */
function sentenceOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof UsageError) return error.message.split('\n')[0] ?? ''
    throw error
  }
  throw new Error('it was not refused')
}
