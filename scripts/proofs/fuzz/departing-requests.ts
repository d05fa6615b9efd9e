import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { recordRequests } from './record-requests.ts'

/** A whole request, as it goes over a socket. */
export interface DepartingRequest {
  readonly name: string
  readonly bytes: Buffer
}

const run = promisify(execFile)

/**
 * One request of each kind that takes places, programs, files or memory while it is worked on: what git sends in all its protocols, as
 * recorded from git, and what REST takes in and streams. `seedStore` has made what they name; each is good.
 */
export async function departingRequests(url: string, key: string): Promise<readonly DepartingRequest[]> {
  const git = await recordedGit(url, key)
  const request = (
    what: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Buffer => {
    const all = {
      host: 'x',
      authorization: `ApiKey ${key}`,
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.concat([Buffer.from(`${what} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
  }
  const json = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Buffer =>
    request(`POST ${path}`, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
  const form =
    '--cut\r\nContent-Disposition: form-data; name="testset_slug"\r\n\r\nuploaded\r\n' +
    '--cut\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n\r\nq\n1\n2\n\r\n--cut--\r\n'
  const push = git.find(({ name }) => name === 'small push')?.bytes ?? Buffer.alloc(0)
  const rest: Record<string, Buffer> = {
    'push that expects 100': Buffer.from(
      push.toString('latin1').replace('\r\n', '\r\nExpect: 100-continue\r\n'),
      'latin1',
    ),
    restore: request('PUT /git/workflows/brought.git?head=refs/heads/flow', await bundleOf(url, key)),
    upload: request('POST /simple/testsets/upload', form, {
      'content-type': 'multipart/form-data; boundary=cut',
    }),
    commit: json('/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_ref: { slug: 'flow' },
        data: { uri: 'svc:builtin:echo:v0', parameters: {} },
      },
    }),
    'commit with a key': json(
      '/workflows/revisions/commit',
      {
        workflow_revision_commit: {
          workflow_ref: { slug: 'flow' },
          data: { uri: 'svc:builtin:echo:v0', parameters: { n: 1 } },
        },
      },
      { 'idempotency-key': 'departing' },
    ),
    'large create': json('/simple/applications/', {
      application: { slug: 'large', data: { parameters: { text: 'x'.repeat(200_000) } } },
    }),
    download: json('/testsets/revisions/retrieve', { testset_ref: { slug: 'rows' } }),
    invocation: json('/services/echo/v0/invoke', { data: { inputs: { n: 1 } } }),
    evaluation: json('/evaluations/run', {
      testset_ref: { slug: 'rows' },
      application_ref: { slug: 'flow' },
      evaluator_refs: [{ slug: 'exact' }],
    }),
  }
  return [...git, ...Object.entries(rest).map(([name, bytes]) => ({ name, bytes }))]
}

async function recordedGit(url: string, key: string): Promise<DepartingRequest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-departing-'))
  const git = (...args: string[]): Promise<unknown> => run('git', ['-C', folder, ...WHO, ...args])
  const found: DepartingRequest[] = []
  const record = async (name: string, use: (remote: string) => Promise<unknown>): Promise<void> => {
    const all = await recordRequests(url, (address) =>
      use(`${address.replace('//', `//any:${key}@`)}/git/workflows/flow.git`),
    )
    for (const bytes of all.filter((it) => /^authorization:/im.test(it.toString('latin1')))) {
      const isAsking = bytes.toString('latin1', 0, 4) === 'GET '
      found.push({ name: isAsking ? `${name}: refs` : name, bytes })
    }
  }
  try {
    for (const version of [0, 1, 2]) {
      await record(`clone v${version}`, (remote) =>
        git('-c', `protocol.version=${version}`, 'clone', '-q', remote, `v${version}`),
      )
    }
    const clone = join(folder, 'v2')
    mkdirSync(join(clone, 'notes'))
    for (const [name, bytes] of [
      ['small push', 10],
      ['large push', 300_000],
    ] as const) {
      writeFileSync(join(clone, 'notes', `${bytes}.txt`), randomBytes(bytes).toString('base64'))
      await git('-C', 'v2', 'add', '.')
      await git('-C', 'v2', 'commit', '-q', '-m', name)
      await record(name, (remote) =>
        git('-C', 'v2', '-c', 'http.postBuffer=65536', 'push', '-q', remote, 'HEAD:refs/heads/flow'),
      )
    }
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function bundleOf(url: string, key: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-departing-'))
  try {
    const remote = `${url.replace('//', `//any:${key}@`)}/git/workflows/flow.git`
    await run('git', ['clone', '-q', '--mirror', remote, folder])
    const { stdout } = await run('git', ['-C', folder, 'bundle', 'create', '-q', '-', '--all'], {
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const WHO = ['-c', 'user.name=Fuzz', '-c', 'user.email=fuzz@example.com']
