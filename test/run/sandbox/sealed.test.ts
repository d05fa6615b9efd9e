import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { interpreterFlags } from '../../../src/run/sandbox/interpreter.ts'

/**
 * What somebody finds who got out of an interpreter into the JavaScript around it: `breakout.ts` runs there, after the seal, with even
 * more in its hands than a script could have.
 */
describe('sandbox: the process around an interpreter', () => {
  const BREAKOUT = fileURLToPath(new URL('./breakout.js', import.meta.url))
  const SEAL = fileURLToPath(new URL('../../../src/run/sandbox/inside/seal.js', import.meta.url))

  const run = async (isSealed: boolean, port: number): Promise<Record<string, string>> => {
    const flags = [...interpreterFlags(SEAL, 64 * 1024 ** 2), `--allow-fs-read=${BREAKOUT}`]
    const args = isSealed ? flags : ['--no-warnings']
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...args, BREAKOUT, String(isSealed), String(port)],
      {
        env: { SECRET: 'shown' },
      },
    )
    return JSON.parse(stdout) as Record<string, string> // breakout.ts writes it
  }

  it('reaches no file, no program, no network, no environment and makes no code', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // it listens on a port
    try {
      const open = await run(false, port)
      const connectionsOpen = connections
      const sealed = await run(true, port)
      for (const [way, outcome] of Object.entries(open)) expect(outcome, way).to.equal('done')
      for (const [way, outcome] of Object.entries(sealed)) expect(outcome, way).to.match(/^refused/)
      expect(Object.keys(sealed)).to.have.length.greaterThan(15)
      expect(connectionsOpen).to.be.greaterThan(1)
      expect(connections).to.equal(connectionsOpen)
    } finally {
      server.close()
    }
  })
})
