import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

/** One of the requests whose way is measured. */
export interface Way {
  readonly name: string
  /** What is sent, for the page. */
  readonly says: string
  /** How long it is to be at most, once the rooms are as they are meant to be. */
  readonly goal: { readonly files: number; readonly functions: number; readonly lines: number }
  /** Makes what the requests need. The answer sends the request for the n-th time, which does as much as each other time. */
  prepare(client: Client): Promise<(n: number) => Promise<unknown>>
}

/** How often a request is sent in all: before it is counted, counted, and once more to see the order. */
export const SENT_BEFORE = 3
const SENT = SENT_BEFORE + 2

/** The fixed requests, in the order of the page. */
export const WAYS: readonly Way[] = [
  {
    name: 'commit',
    // 2,670 lines, raised once by a tenth (decision 46)
    goal: { files: 60, functions: 380, lines: 2937 },
    says: 'a prompt of two messages, one text of it in a file, by the id of its variant',
    prepare: async (client) => {
      const id = await create(client, 'ways-commit')
      return (n) =>
        client.post('/applications/revisions/commit', {
          application_revision_commit: {
            application_variant_id: id,
            message: `Kinder, ${n}`,
            data: prompt(`You answer tickets.\nBe ${n} times as kind.`),
          },
        })
    },
  },
  {
    name: 'retrieve',
    goal: { files: 30, functions: 85, lines: 710 },
    says: 'the latest revision of an artifact, by its slug',
    prepare: async (client) => {
      await create(client, 'ways-retrieve')
      return () =>
        client.post('/applications/revisions/retrieve', { application_ref: { slug: 'ways-retrieve' } })
    },
  },
  {
    name: 'deploy',
    goal: { files: 60, functions: 415, lines: 2930 },
    says: 'another revision to `staging`',
    prepare: async (client) => {
      const id = await create(client, 'ways-deploy')
      for (const n of times()) await commit(client, { id, text: `Answer.\nIn ${n} words.` })
      return (n) =>
        client.post('/applications/revisions/deploy', {
          application_revision_ref: { slug: 'ways-deploy', version: n },
          environment_ref: { slug: 'staging' },
          message: `Release ${n}`,
        })
    },
  },
  {
    name: 'upload',
    goal: { files: 70, functions: 570, lines: 4080 },
    says: 'a CSV of two rows, as a new testset',
    prepare: async (client) => (n) => {
      const form = new FormData()
      form.set('file', new Blob([`country,capital\nNorway,Oslo\nPeru,Lima ${n}\n`]), 'capitals.csv')
      form.set('testset_slug', `ways-upload-${n}`)
      return client.send('/simple/testsets/upload', form)
    },
  },
  {
    name: 'push',
    goal: { files: 65, functions: 500, lines: 3650 },
    says: '`git push` of one commit that changes a text',
    prepare: async (client) => {
      await create(client, 'ways-push')
      const clone = join(client.folder, 'clone')
      await git('clone', '--quiet', client.gitUrl('workflows/ways-push'), clone)
      return async (n) => {
        await writeFile(join(clone, 'prompt/system.md'), `You answer tickets.\nBe ${n} times as kind.\n`)
        await git('-C', clone, 'commit', '--quiet', '--all', '--message', `Kinder, ${n}`)
        await git('-C', clone, 'push', '--quiet')
      }
    },
  },
  {
    name: 'merge',
    goal: { files: 65, functions: 360, lines: 2620 },
    says: 'a variant into another; each changed a line of the same text',
    prepare: async (client) => {
      const lines = ['Greet.', ...times().map((n) => `Step ${n}.\n\nThen`), 'Sign.']
      const target = await create(client, 'ways-merge', lines.join('\n'))
      for (const n of times()) {
        const id = await fork(client, 'ways-merge', `ways-merge-${n}-of-many`)
        await commit(client, { id, text: lines.with(n, `Step ${n}, slowly.\n\nThen`).join('\n') })
      }
      await commit(client, { id: target, text: lines.with(-1, 'Sign with a name.').join('\n') })
      return (n) =>
        client.post('/applications/variants/merge', {
          source: { variant: { slug: `ways-merge-${n}-of-many` } },
          target: { variant: { slug: 'ways-merge' } },
        })
    },
  },
  {
    name: 'invoke',
    goal: { files: 55, functions: 240, lines: 1910 },
    says: 'a prompt with `mock/examples`',
    prepare: async (client) => {
      await client.post('/simple/applications/', {
        application: { slug: 'ways-invoke', template: 'completion', data: { parameters: examples() } },
      })
      return (n) =>
        client.post('/services/invoke', {
          references: { application: { slug: 'ways-invoke' } },
          data: { inputs: { country: `Norway ${n}` } },
        })
    },
  },
]

/** Whoever sends the requests. */
export class Client {
  /** A folder for what it keeps, such as a clone. */
  readonly folder: string
  readonly #url: string
  readonly #key: string

  constructor(server: { readonly url: string; readonly key: string; readonly folder: string }) {
    this.folder = server.folder
    this.#url = server.url
    this.#key = server.key
  }

  post(path: string, body: unknown): Promise<unknown> {
    return this.send(path, JSON.stringify(body), { 'content-type': 'application/json' })
  }

  /** The address of a repository, with the key in it. */
  gitUrl(repository: string): string {
    return `${this.#url.replace('://', `://me:${this.#key}@`)}/git/${repository}.git`
  }

  /** Throws if it is refused. */
  async send(
    path: string,
    body: string | FormData,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${this.#key}`, ...headers },
      body,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
}

function times(): readonly number[] {
  return Array.from({ length: SENT }, (_, index) => index + 1)
}

function prompt(text: string): object {
  return {
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: text },
          { role: 'user', content: '{{question}}' },
        ],
        llm_config: { model: 'gpt-4o-mini', temperature: 0.2 },
        template_format: 'curly',
      },
    },
  }
}

function examples(): object {
  return {
    prompt: {
      messages: [
        { role: 'user', content: 'Norway' },
        { role: 'assistant', content: 'Oslo' },
        { role: 'user', content: '{{country}}' },
      ],
      llm_config: { model: 'mock/examples' },
      template_format: 'curly',
    },
  }
}

/** Answers the id of its variant. */
async function create(client: Client, slug: string, text = 'You answer tickets.\nBe kind.'): Promise<string> {
  const answer = await client.post('/simple/applications/', { application: { slug, data: prompt(text) } })
  return z.object({ application: z.object({ variant_id: z.string() }) }).parse(answer).application.variant_id
}

async function fork(client: Client, from: string, slug: string): Promise<string> {
  const answer = await client.post('/variants/fork', {
    application_variant: { slug },
    application_variant_ref: { slug: from },
  })
  return z.object({ application_variant: z.object({ id: z.string() }) }).parse(answer).application_variant.id
}

async function commit(
  client: Client,
  { id, text }: { readonly id: string; readonly text: string },
): Promise<void> {
  await client.post('/applications/revisions/commit', {
    application_revision_commit: { application_variant_id: id, message: text.slice(-20), data: prompt(text) },
  })
}

async function git(...args: readonly string[]): Promise<void> {
  const who = ['-c', 'user.name=Ways', '-c', 'user.email=ways@example.org', '-c', 'commit.gpgsign=false']
  await promisify(execFile)('git', [...who, ...args], {
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
    },
  })
}
