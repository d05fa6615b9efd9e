import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { progressLine } from '../../../src/cli/command/progress-line.ts'
import { showProgress } from '../../../src/cli/command/show-progress.ts'

describe('progress of an import or export', () => {
  it('says how much of a file is read, how fast rows come, and how long it will take', () => {
    const line = progressLine({
      unit: 'bytes',
      done: 12_600_000,
      total: 30_000_000,
      rows: 412_000,
      seconds: 10,
    })
    expect(line).to.equal('[####......]  42 %  12.6/30.0 MB  412,000 rows  41,200 rows/s  0:14 left')
  })

  it('counts an export in rows', () => {
    const line = progressLine({ unit: 'rows', done: 1000, total: 4_000_000, rows: 1000, seconds: 1 })
    expect(line).to.equal('[..........]   0 %  1,000 of 4,000,000 rows  1,000 rows/s  1:06:39 left')
  })

  it('leaves out what nobody knows', () => {
    expect(progressLine({ unit: 'bytes', done: 500_000, total: undefined, rows: 2, seconds: 0 })).to.equal(
      '0.5 MB  2 rows  0 rows/s',
    )
    expect(progressLine({ unit: 'bytes', done: 0, total: 10, rows: 0, seconds: 1 })).not.to.contain('left')
  })

  it('says when all that is left is to store it, and fits in 80 columns with a million rows', () => {
    const whole = {
      unit: 'bytes',
      done: 164_400_000,
      total: 164_400_000,
      rows: 1_000_000,
      seconds: 26,
    } as const
    expect(progressLine(whole)).to.match(/^\[##########\] 100 % .* storing$/)
    expect(progressLine({ ...whole, done: 164_000_000 })).to.have.length.below(80)
  })

  it('rewrites one line of a terminal, never wider than it, and takes it away', async () => {
    const written: string[] = []
    const output = { isTTY: true, columns: 6, write: (text: string) => written.push(text) }
    const stop = showProgress(output, () => '12345678')
    await pause(150)
    stop()
    const after = written.length
    await pause(150)
    expect(written.slice(0, -1)).to.not.be.empty
    for (const text of written.slice(0, -1)) expect(text).to.equal('\r12345\x1b[K')
    expect(written.at(-1)).to.equal('\r\x1b[K')
    expect(written.length).to.equal(after)
  })

  it('writes nothing to a log for what is quickly done', async () => {
    const written: string[] = []
    const stop = showProgress({ write: (text) => written.push(text) }, () => 'line')
    await pause(150)
    stop()
    expect(written).to.deep.equal([])
  })
})
