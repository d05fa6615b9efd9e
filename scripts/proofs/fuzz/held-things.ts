import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** What a service of this process holds for requests: what its metrics count, git programs, temporary files and locks, open files. */
export async function heldThings(url: string, key: string, storeDir: string): Promise<string[]> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `ApiKey ${key}` } })
  const text = await answer.text()
  const counted = COUNTED.flatMap(([name, itself]) => {
    const value = Number(new RegExp(`^branchpoint_${name} (\\d+)`, 'm').exec(text)?.[1])
    return value === itself ? [] : [`${name} ${value}`]
  })
  const files = readdirSync(storeDir, { recursive: true, encoding: 'utf8' }).filter((path) => HELD.test(path))
  return [...counted, ...files, ...programsIn(storeDir), ...openIn(storeDir)]
}

/** Resolves once the service holds nothing any more. */
export async function nothingHeld(
  url: string,
  key: string,
  storeDir: string,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const held = await heldThings(url, key, storeDir)
    if (held.length === 0) return
    if (signal?.aborted) throw new Error(`not given back: ${held.join(', ')}`)
    await pause(50)
  }
}

/** Metrics, and what each is while only /metrics is asked for. */
const COUNTED = [
  ['http_requests_in_flight', 1],
  ['git_requests_running', 0],
  ['git_requests_waiting', 0],
  ['writes_waiting', 0],
  ['scripts_running', 0],
  ['scripts_waiting', 0],
  ['long_jobs_running', 0],
  ['long_jobs_waiting', 0],
  ['evaluations_running', 0],
  ['trace_spans_waiting', 0],
] as const

const HELD = /(?<!\/teller)\.lock$|(?:^|\/)tmp_|\/objects\/incoming-|^\.uploads\/.|\/\.new-/

/** Programs at work in a folder or on it, whoever their parent is by now. */
function programsIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const isThere = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || words.includes(folder)
        return isThere ? [`${pid} ${words}`] : []
      } catch {
        return [] // it has ended, or is somebody else's
      }
    })
}

/** Files that are removed and still open, and spools. */
function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) && /\.uploads\/|\/incoming-/.test(path) ? [`open: ${path}`] : []
    } catch {
      return []
    }
  })
}
