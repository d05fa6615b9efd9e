import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { nodeFs, syncFileSystems, tellsOfErrors } from '../../src/storage/files/node-fs.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

describe('storage: syncing whole file systems', () => {
  const path = process.env.PATH
  afterEach(() => {
    process.env.PATH = path
  })

  it('is done by the sync program, once a file system, whatever lies on it', async function () {
    if (!tellsOfErrors(process.platform, release())) this.skip()
    const { folder, asked } = fakeSync(0)
    const paths = [`${folder}/a`, `${folder}/gone`, folder]
    writeFileSync(`${folder}/a`, 'x')
    expect(await syncFileSystems(paths)).to.equal(true)
    expect(asked()).to.equal(`-f -- ${folder}\n`)
    process.env.PATH = path
    expect(await syncFileSystems(paths)).to.equal(true)
    expect(await syncFileSystems([`${folder}/gone`])).to.equal(true)
  })

  it('is told apart from what could not be done: then each path is synced by itself', async function () {
    if (!tellsOfErrors(process.platform, release())) this.skip()
    const { folder } = fakeSync(1)
    expect(await syncFileSystems([folder])).to.equal(false)
    process.env.PATH = ''
    expect(await syncFileSystems([folder])).to.equal(false)
    const names = Array.from({ length: 200 }, (_, n) => `${folder}/${n}`)
    for (const name of names.slice(1)) writeFileSync(name, 'x')
    await nodeFs.syncAll(names)
  })

  it('is left alone where nobody tells whether the bytes came to the disk', () => {
    const kernels = [
      ['linux', '6.1.0-18-amd64', true],
      ['linux', '5.8.0', true],
      ['linux', '5.7.19', false],
      ['linux', '4.18.0-513.el8', false],
      ['darwin', '23.1.0', false],
    ] as const
    for (const [platform, kernel, tells] of kernels) expect(tellsOfErrors(platform, kernel)).to.equal(tells)
  })
})

/** Puts a program `sync` before all others that notes what it is asked, and ends with this code. */
function fakeSync(code: number) {
  const folder = temporaryFolder()
  writeFileSync(`${folder}/sync`, `#!/bin/sh\necho "$@" >> ${folder}/asked\nexit ${code}\n`, { mode: 0o755 })
  process.env.PATH = `${folder}:${process.env.PATH}`
  return { folder, asked: () => readFileSync(`${folder}/asked`, 'utf8') }
}
