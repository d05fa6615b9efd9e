import { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { isMainThread, Worker } from 'node:worker_threads'

/**
 * Loaded into a process that is measured: `node --import …/measured.js?<socket>`. A thread beside the program starts V8's precise coverage
 * before the first module of the program is loaded, and tells the counts to whoever listens at the socket. Node processes that this one
 * starts are measured the same way.
 */
if (isMainThread) {
  const thread = new Worker(new URL('./measuring-thread.js', import.meta.url), {
    execArgv: [],
    workerData: decodeURIComponent(new URL(import.meta.url).search.slice(1)),
  })
  await once(thread, 'message')
  // the program ends as it would without it
  thread.unref()
  measureChildren(thread)
}

/** Has every node process that this one starts from now on load this module, too. */
function measureChildren(thread: Worker): void {
  // every way to start a process comes through here, which @types/node does not declare
  const prototype = ChildProcess.prototype as unknown as { spawn(options: Spawned): unknown }
  const { spawn } = prototype
  prototype.spawn = function (options): unknown {
    const [program = '', ...args] = options.args ?? []
    if (basename(options.file) === basename(process.execPath) && !args.includes(import.meta.url)) {
      // a process that is locked in cannot be looked into: the measurement must not go on as if it had not run
      if (args.some((it) => /^--(?:experimental-)?permission$/.test(it))) thread.postMessage(args.at(-1))
      else options.args = [program, '--import', import.meta.url, ...args]
    }
    return spawn.call(this, options)
  }
}

interface Spawned {
  readonly file: string
  args?: readonly string[]
}
