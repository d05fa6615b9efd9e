import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { thisMachine } from '../../bench/machine.ts'
import { plainFigure } from '../../bench/figures/plain-figure.ts'
import { report } from '../../bench/figures/report.ts'

const PROGRAM = fileURLToPath(new URL('../../bench.js', import.meta.url))

/** What a run before this one measured: a figure that this one measures, too, and one that it does not. */
const BEFORE = [
  'retrieve with If-None-Match answered 304, 32 clients, against a bare 304 from Koa',
  'something else',
].map((work) => plainFigure({ work, rounds: [1], unit: '%', goal: { is: '≥', value: 75 } }))

describe('npm run bench: the program', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [PROGRAM, '--rounds', '1', '--seconds', '0.05', ...args], {
      encoding: 'utf8',
    })

  it('measures commits and reads, keeps them, and shows what they were before', () => {
    const [old, now] = [join(folder, 'old.json'), join(folder, 'now.json')]
    writeFileSync(old, JSON.stringify({ machine: thisMachine(), figures: BEFORE }))
    const { status, stdout, stderr } = run('--only', 'commits,reads', '--json', now, '--compare', old)
    expect(status, stderr).to.equal(0)
    const { machine, figures } = report.parse(JSON.parse(readFileSync(now, 'utf8')))
    expect(machine.node).to.equal(process.versions.node)
    expect(machine.cores).to.be.above(0)
    expect(figures).to.have.length(5 + 2)
    const lines = stdout.split('\n')
    for (const { work, value } of figures) {
      expect(value, work).to.be.above(0)
      const row = lines.find((line) => line.startsWith(`| ${work} | `))
      expect(row).to.match(BEFORE.some((it) => it.work === work) ? /\| 1 % \| \+[\d.]+ % \|$/ : /\| new \|$/)
    }
    expect(lines).to.include('- something else')
    // A pack, its index, and the ref; and what maintenance made meanwhile, on a machine that had time for it.
    expect(figures.find(({ work }) => work.includes('as many files'))?.note).to.match(/^[3-9] a commit$/)
  })

  it('refuses what it cannot compare with before it measures', () => {
    const { status, stdout, stderr } = run('--only', 'reads', '--compare', join(folder, 'none.json'))
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' })
    expect(stderr).to.match(/^.*none\.json cannot be compared with: no such file or directory\. Name a file/)
  })
})
