import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

// What scripts/test/ways/measured-server.test.ts measures: on SIGUSR2 it works in this thread, in another that ends, and in a process.
const child = spawn(
  process.execPath,
  [...process.argv.slice(2), fileURLToPath(new URL('./tiny-child.js', import.meta.url))],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {},
  },
)
process.on('SIGUSR2', () => void work())
process.on('SIGTERM', () => {
  child.kill()
  process.exit()
})
await once(child.stdout, 'data')
process.stdout.write(`ready ${process.pid}\n`)

async function work(): Promise<void> {
  second(1)
  first()
  first()
  const thread = new Worker(new URL('./tiny-thread.js', import.meta.url), { env: {} })
  await once(thread, 'exit')
  child.stdin.write('work\n')
  await once(child.stdout, 'data')
  process.stdout.write('done\n')
}

function first(): string {
  // a comment

  return new Held().text
}

/** Its field is no function, and `never` was not called. */
class Held {
  readonly text = 'first'

  never(): void {
    neverCalled()
  }
}

function second(count: number): number {
  const never = (): number => count + 1
  return count > 1 ? never() : count
}

export function neverCalled(): void {
  first()
}
