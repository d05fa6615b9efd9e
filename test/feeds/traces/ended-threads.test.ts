import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startService } from '../../support/servers/service.ts'

describe('threads of the traces', () => {
  let child: ChildProcess | undefined
  afterEach(() => child?.kill('SIGKILL'))

  it('end whenever they are told to, and never take the process with them', async () => {
    const service = await startService()
    for (let count = 0; count < 20; count++)
      await service.post('/services/mock/v0/invoke', {
        data: { inputs: { count }, parameters: { key: 'echo' } },
      })
    await service.post('/traces/query', {})
    const handle = JSON.stringify(
      new URL('../../../src/feeds/traces/storage/thread-work.js', import.meta.url).href,
    )
    const program = `
      import { setTimeout as pause } from 'node:timers/promises'
      import { traceThread } from ${handle}
      const question = { focus: 'trace', filtering: undefined, window: { order: 'ascending' } }
      const whole = performance.now()
      const first = traceThread()
      await first.call('query', ${JSON.stringify(`${service.storeDir}/default/traces.db`)}, { question })
      const long = 1.5 * (performance.now() - whole)
      await first.stop(new Error('stopped'))
      for (let count = 0; count < 50; count++) {
        const thread = traceThread()
        thread.call('query', ${JSON.stringify(`${service.storeDir}/default/traces.db`)}, { question }).catch(() => undefined)
        await pause((count / 50) * long)
        await thread.stop(new Error('stopped'))
      }
      console.log('all ended')`
    // A file, as threads take over how a program was given.
    const file = join(service.storeDir, 'program.mjs')
    writeFileSync(file, program)
    child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout?.on('data', (piece: Buffer) => (said += piece.toString()))
    child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    await service.stop()
    expect([code, said]).to.deep.equal([0, 'all ended\n'])
  })
})
