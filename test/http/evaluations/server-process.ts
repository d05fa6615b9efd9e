import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ADMIN_KEY } from '../../support/servers/service.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.js', import.meta.url))

/** A server in a process of its own, which can be killed. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  /** Sends JSON and answers what comes back, whatever its status. */
  call(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: any }>
  /** The records of a stream of progress, as they come. */
  stream(path: string, body?: object, signal?: AbortSignal): AsyncGenerator<any>
  /** Ends it and resolves with its exit code, null where the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts the server over a store; hooks may go to this machine. */
export async function startProcess(
  storeDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      PORT: '0',
      STORE_DIR: storeDir,
      SVC_API_KEY: ADMIN_KEY,
      LOG_LEVEL: 'info',
      HOOK_ALLOW_PRIVATE: 'true',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await firstUrl(createInterface(child.stdout))
  const send = (method: string, body?: object, accept = 'application/json') => ({
    method,
    headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json', accept },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  })
  return {
    url,
    process: child,
    call: async (method, path, body) => {
      const response = await fetch(url + path, send(method, body))
      return { status: response.status, body: await response.json() }
    },
    stream: async function* (path, body, signal) {
      const request = send('POST', body, 'application/x-ndjson')
      const response = await fetch(url + path, { ...request, ...(signal ? { signal } : {}) })
      if (!response.ok || !response.body) throw new Error(await response.text())
      let rest = ''
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + piece).split('\n')
        rest = parts.pop() ?? ''
        for (const part of parts) yield JSON.parse(part)
      }
    },
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      child.kill(signal)
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    },
  }
}

/** What the server says of where it listens; it may say other things before. */
function firstUrl(lines: Interface): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const { url } = JSON.parse(line) as { url?: string }
      if (url !== undefined) resolve(url)
    })
    lines.once('close', () => reject(new Error('the server ended before it listened')))
  })
}
