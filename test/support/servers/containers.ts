import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that is process 1 of its own process ids, with a host name and mounts of its own, as in a container. */
export interface Container {
  /** The next line that it prints; undefined once it has ended. */
  line(): Promise<string | undefined>
  /** Kills it as `kill -9` does; resolves when it is gone. */
  kill(): Promise<void>
}

export interface ContainerSettings {
  readonly hostname: string
  readonly env?: NodeJS.ProcessEnv
  /** What the shell does before as root: the container's mounts. */
  readonly mounts?: string
}

const NAMESPACES = ['--pid', '--uts', '--fork', '--mount-proc', '--kill-child']
/** Who is not root gets the right in a namespace of users. */
const AS_ROOT = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']

/** Runs a command in a container. */
export function startContainer(command: readonly string[], settings: ContainerSettings): Container {
  const { hostname, mounts = 'true', env = process.env } = settings
  const inside = `echo "$0" > /proc/sys/kernel/hostname && ${mounts} && exec "$@"`
  const args = [...AS_ROOT, ...NAMESPACES, 'sh', '-c', inside, hostname, ...command]
  const child: ChildProcess = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  child.stderr?.pipe(process.stderr)
  const lines = createInterface(child.stdout ?? process.stdin)[Symbol.asyncIterator]()
  const gone = once(child, 'exit')
  const line = async (): Promise<string | undefined> => {
    const next = await lines.next()
    return next.done ? undefined : next.value
  }
  return {
    line,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
      // Its output ends when the process inside is gone, too.
      while ((await line()) !== undefined);
    },
  }
}

/** Skips what a hook is about where nobody may make namespaces, and says so by name: nobody shall take what was not tested for tested. */
export function needsNamespaces(hook: Mocha.Context): void {
  const { status, stderr, error } = spawnSync('unshare', [...AS_ROOT, ...NAMESPACES, 'true'], {
    encoding: 'utf8',
  })
  if (status !== 0) skipLoudly(hook, `unshare is not permitted here: ${error?.message ?? stderr.trim()}.`)
}

/** Skips a test, or what a hook is about, and says by name why. */
export function skipLoudly(context: Mocha.Context, why: string): never {
  console.warn(`SKIPPED: ${context.test?.fullTitle()}. ${why}`)
  return context.skip()
}
