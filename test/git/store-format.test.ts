import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Store } from '../../src/git/store/store.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { thisProcess } from '../../src/storage/files/process-identity.ts'

describe('the format of a store', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'format-'))
    writeFileSync(join(folder, 'format'), '1\n')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const format = (): string => readFileSync(join(folder, 'format'), 'utf8')

  it('1 is brought up to 2, once', async () => {
    const store = await Store.open(nodeFs, folder)
    expect([store.isBroughtUp, format()]).to.deep.equal([true, '2\n'])
    await store.close()
    const again = await Store.open(nodeFs, folder)
    expect([again.isBroughtUp, format()]).to.deep.equal([false, '2\n'])
    await again.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('.format'))).to.deep.equal([])
  })

  it('a new store has 2, and was not brought up', async () => {
    rmSync(join(folder, 'format'))
    const store = await Store.open(nodeFs, folder)
    expect([store.isBroughtUp, format()]).to.deep.equal([false, '2\n'])
    await store.close()
  })

  it('1 stays while a living process has a journal there, which the refusal names', async () => {
    const { host, boot } = thisProcess()
    mkdirSync(join(folder, '.journal'))
    writeFileSync(join(folder, '.journal', `${host}.${boot}.${process.ppid}.0.1`), '')
    const refusal: unknown = await Store.open(nodeFs, folder).catch((error: unknown) => error)
    expect(String(refusal)).to.contain(`process ${process.ppid} on ${host}`)
    expect(format()).to.equal('1\n')
  })

  it('another one is refused by name, and stays', async () => {
    writeFileSync(join(folder, 'format'), '3\n')
    const refusal: unknown = await Store.open(nodeFs, folder).catch((error: unknown) => error)
    expect(String(refusal)).to.contain('has format "3"')
    expect(format()).to.equal('3\n')
  })

  it('servers that bring it up together know it by one file', async () => {
    let first: Store | undefined
    const late: Fs = {
      ...nodeFs,
      createSynced: async (path, bytes, mode) => {
        first ??= await Store.open(nodeFs, folder)
        await nodeFs.createSynced(path, bytes, mode)
      },
    }
    const second = await Store.open(late, folder)
    expect(first?.guard.problem).to.equal(undefined)
    expect(second.guard.problem).to.equal(undefined)
    await second.close()
    await first?.close()
  })

  it('a server that runs on 1 serves nothing once another one has brought it up', async () => {
    writeFileSync(join(folder, 'format'), '2\n')
    const running = await Store.open(nodeFs, folder)
    rmSync(join(folder, 'format'))
    writeFileSync(join(folder, 'format'), '3\n')
    expect(() => running.guard.assertThere()).to.throw(/format/)
    await running.close()
  })
})
