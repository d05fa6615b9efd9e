import type { ChildProcess } from 'node:child_process'

/** A server that listens, and a key for it. */
export interface Served {
  readonly url: string
  readonly key: string
}

const MAX_START_MS = 120_000

/** Resolves when a server has printed its address, and at its first start a key. Rejects with what it printed if it ends. */
export function served(child: ChildProcess, key?: string): Promise<Served> {
  return new Promise((resolve, reject) => {
    let text = ''
    const late = setTimeout(() => reject(new Error(`The server does not listen: ${text}`)), MAX_START_MS)
    const hear = (piece: Buffer): void => {
      text += String(piece)
      const url = /"url":"([^"]+)"/.exec(text)?.[1]
      const made = key ?? /BRANCHPOINT_KEY=(\S+)/.exec(text)?.[1]
      if (url === undefined || made === undefined) return
      clearTimeout(late)
      resolve({ url, key: made })
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.on('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`The server ended with ${code}: ${text}`))
    })
  })
}

/** Uses a server as somebody does who tries it: a prompt, and unless it is only to be read, scripts in each language. Throws what is wrong. */
export async function tryOut({ url, key }: Served, how: 'create' | 'read'): Promise<void> {
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} is answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  if (how === 'create') {
    const messages = [{ role: 'user', content: 'Hello, {{name}}!' }]
    await post('/simple/applications/', {
      application: { slug: 'hello', data: { parameters: { prompt: { messages } } } },
    })
  }
  const read = await post('/applications/revisions/retrieve', { application_ref: { slug: 'hello' } })
  if (read.application_revision.slug !== 'hello-1')
    throw new Error(`The prompt is read as ${JSON.stringify(read)}`)
  if (how === 'read') return
  for (const [runtime, script] of Object.entries(SCRIPTS)) {
    await post('/simple/applications/', {
      application: { slug: runtime, data: { uri: 'svc:custom:code:v0', runtime, script } },
    })
    const run = await post('/services/invoke', {
      references: { application: { slug: runtime } },
      data: { inputs: {} },
    })
    if (run.data.outputs !== 6) throw new Error(`A script in ${runtime} answers ${JSON.stringify(run)}`)
  }
}

const SCRIPTS = {
  javascript: 'function evaluate() { return 6 }',
  typescript: 'function evaluate(): number { return 6 }',
  python: 'def evaluate(*_): return 6',
}
