import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

describe('a server that cannot start', () => {
  const program = fileURLToPath(new URL('../src/main.js', import.meta.url))
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'branchpoint-start-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  it('says in one line that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const said = await startWith({ STORE_DIR: join(folder, 'store'), PORT: String(port) })
    other.close()
    expect(said).to.match(/^Cannot listen on 127\.0\.0\.1 port \d+: something else .* PORT .*\.\n$/)
  })

  it('says in one line that its store is a file, or in one', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'text')
    for (const place of [file, join(file, 'store')]) {
      expect(await startWith({ STORE_DIR: place })).to.match(
        new RegExp(`^Cannot open the store ${place}: E[A-Z]+: .* Set STORE_DIR to .*\\.\\n$`),
      )
    }
  })

  it('says so, too, of a store where no folder can be made', async function () {
    if (process.platform !== 'linux') this.skip()
    expect(await startWith({ STORE_DIR: '/proc/branchpoint/store' })).to.match(
      /^Cannot open the store \/proc\/branchpoint\/store: .*\n$/,
    )
  })

  /** All that it prints before it ends with 1. */
  function startWith(settings: Readonly<Record<string, string>>): Promise<string> {
    const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', SVC_API_KEY: 'key', ...settings }
    return new Promise((resolve, reject) => {
      execFile(process.execPath, [program], { env, timeout: 60_000 }, (error, stdout, stderr) => {
        if (error?.code === 1) resolve(stdout + stderr)
        else reject(new Error(`it ended otherwise: ${String(error)} ${stderr}`))
      })
    })
  }
})
