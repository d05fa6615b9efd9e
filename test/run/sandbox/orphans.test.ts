import { expect } from 'chai'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL('./runaway-server.js', import.meta.url))

/** Process ids and those of their parents. */
function processes(): readonly (readonly [pid: number, parent: number])[] {
  const lines = execFileSync('ps', ['-o', 'pid=,ppid=', '-e'], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
    return [pid, parent]
  })
}

describe('sandbox: the death of the server', () => {
  it('is that of its interpreters, even while a script runs', async () => {
    const server = spawn(process.execPath, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(server.stdout, 'data')
    const children = processes().flatMap(([pid, parent]) => (parent === server.pid ? [pid] : []))
    expect(children).to.have.length(1)
    server.kill('SIGKILL')
    await once(server, 'exit')
    while (processes().some(([pid]) => children.includes(pid)))
      await new Promise((resolve) => setTimeout(resolve, 50))
  })
})
