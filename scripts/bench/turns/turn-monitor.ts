import { openSync, readFileSync, readSync, writeFileSync } from 'node:fs'

/**
 * Loaded into a server (`node --import`) whose parent measures it over the channel between them. On "measure" it begins anew; on "tell"
 * it answers `Turns` and rests. The longest piece is taken in processor time of the main thread, which other work of the machine does
 * not lengthen; the kernel counts that in steps of some milliseconds.
 */
export interface Turns {
  /** The longest piece between two turns of the event loop, in milliseconds. */
  readonly longest: number
  /** Peak resident memory, in bytes; 0 where the system does not tell. */
  readonly peak: number
}

const processorTime = threadTime() ?? processTime
let isMeasuring = false
let longest = 0
let last = 0

process.on('message', (asked) => {
  if (asked === 'measure') {
    forgetPeak()
    longest = 0
    last = processorTime()
    if (!isMeasuring) setImmediate(turn)
    isMeasuring = true
  } else if (asked === 'tell') {
    // What ran in this very turn counts, too.
    take()
    isMeasuring = false
    const turns: Turns = { longest, peak: peakResident() }
    process.send?.(turns)
  }
})
// The server ends as it would without the channel.
process.channel?.unref()

function turn(): void {
  if (!isMeasuring) return
  take()
  setImmediate(turn)
}

function take(): void {
  const now = processorTime()
  if (now - last > longest) longest = now - last
  last = now
}

/** Linux tells what each thread has used; the first of a process is the main thread. */
function threadTime(): (() => number) | undefined {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
    const bytes = Buffer.alloc(100)
    return () => {
      const length = readSync(file, bytes, 0, bytes.length, 0)
      return Number(bytes.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6
    }
  } catch {
    return undefined
  }
}

/** All threads of the process together: never less than the main thread's. */
function processTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // the peak is then that of the whole life
  }
}

function peakResident(): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
