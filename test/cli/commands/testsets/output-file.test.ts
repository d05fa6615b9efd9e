import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { outputFile } from '../../../../src/cli/commands/testsets.ts'

describe('the file of an export', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'output-file-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const write = (bytes: () => AsyncGenerator<Buffer>, signal = new AbortController().signal, force = false) =>
    outputFile(join(folder, 'a.csv'), { force })
      .write(bytes(), signal)
      .then(
        () => undefined,
        (error: Error) => error,
      )

  it('has its name only when everything is in it', async () => {
    const during: string[][] = []
    await write(async function* () {
      yield Buffer.from('a\n')
      during.push(readdirSync(folder))
      yield Buffer.from('1\n')
    })
    expect(during.flat().filter((name) => name === 'a.csv')).to.deep.equal([])
    expect(readdirSync(folder)).to.deep.equal(['a.csv'])
    expect(readFileSync(join(folder, 'a.csv'), 'utf8')).to.equal('a\n1\n')
  })

  it('leaves nothing of what is stopped or fails, and what was there as it was', async () => {
    writeFileSync(join(folder, 'a.csv'), 'mine')
    const stop = new AbortController()
    const stopped = await write(
      async function* () {
        yield Buffer.from('a\n')
        stop.abort()
        yield Buffer.from('1\n')
      },
      stop.signal,
      true,
    )
    expect(stopped?.name).to.equal('AbortError')
    const failed = await write(
      async function* () {
        yield Buffer.from('a\n')
        throw new Error('damaged')
      },
      undefined,
      true,
    )
    expect(failed?.message).to.equal('damaged')
    expect(readdirSync(folder)).to.deep.equal(['a.csv'])
    expect(readFileSync(join(folder, 'a.csv'), 'utf8')).to.equal('mine')
  })

  it('leaves nothing of what is stopped before it begins', async () => {
    const stopped = await write(async function* () {
      yield Buffer.from('a')
    }, AbortSignal.abort())
    expect(stopped?.name).to.equal('AbortError')
    await pause(20)
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('does not replace what appeared while it was written', async () => {
    const refused = await write(async function* () {
      yield Buffer.from('a\n')
      writeFileSync(join(folder, 'a.csv'), 'theirs')
    })
    expect(refused?.message).to.match(/exists; add --force/)
    expect(readdirSync(folder)).to.deep.equal(['a.csv'])
    expect(readFileSync(join(folder, 'a.csv'), 'utf8')).to.equal('theirs')
  })
})
