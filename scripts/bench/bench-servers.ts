import { fileURLToPath } from 'node:url'
import { type ChildServer, spawnBranchpoint, startChild } from '../../test/support/servers/child-server.ts'
import type { Turns } from './turns/turn-monitor.ts'

/** A server that tells how long it let others wait. */
export interface MonitoredServer extends ChildServer {
  /** What `work` answers, and how the server's main thread fared meanwhile; for one piece of work at a time. */
  measured<T>(work: () => Promise<T>): Promise<{ readonly answer: T; readonly turns: Turns }>
}

/** Starts the service over `storeDir` with a monitor inside. */
export async function startMonitored(
  storeDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<MonitoredServer> {
  const monitor = new URL('./turns/turn-monitor.js', import.meta.url).href
  const { server, child } = await spawnBranchpoint(storeDir, env, ['--import', monitor])
  const told = (): Promise<Turns> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the server ended while it was measured'))
      child.once('exit', ended)
      child.once('message', (turns) => {
        child.off('exit', ended)
        resolve(turns as Turns) // the monitor sends nothing else
      })
      child.send('tell')
    })
  return {
    ...server,
    measured: async (work) => {
      child.send('measure')
      const answer = await work()
      return { answer, turns: await told() }
    },
  }
}

/** Starts the bare Koa application that the figures are ratios to. */
export function startFloor(env: Readonly<Record<string, string>>): Promise<ChildServer> {
  const floor = fileURLToPath(new URL('./floor-server.js', import.meta.url))
  return startChild(floor, env, (text) => /(http:\S+)/.exec(text)?.[1])
}
