import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../config.ts'
import { nodeFs } from '../../storage/files.ts'
import { openLogger } from '../../http/logger.ts'
import type { Json } from '../../base/json.ts'
import { start } from '../../server/start.ts'
import type { Command } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { VERBS } from '../command/verbs.ts'
import { evaluationAnswer } from './evaluation-answer.ts'
import { resultTable } from './result-table.ts'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands in for a language model, so that the demo needs no key and no network. */
interface StandInModel {
  /** In the form of `OPENAI_BASE_URL`. */
  readonly url: string
  close(): void
}

/** Answers chat completions: cites the manual if the prompt asks for it, and only apologises otherwise. */
async function startStandInModel(): Promise<StandInModel> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const isAskedFor = Buffer.concat(pieces).toString('utf8').includes('cite the manual')
    const content = isAskedFor
      ? 'Hold the button for ten seconds (manual, page 4).'
      : 'I am sorry to hear that!'
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ id: 'demo', object: 'chat.completion', created: 0, model: 'demo', choices }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // what a server that listens on a port has
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const USAGE = `branchpoint demo

  Starts a server on a temporary store and a free port, and shows the life of a prompt: created, evaluated, deployed, and what git
  shows of it. Nobody's data is touched.

Example:
  branchpoint demo`

/** The command `demo`. Does not read BRANCHPOINT_URL, because it uses its own server. */
export const demoCommand: Command = { usage: USAGE, run }

interface DemoServer {
  readonly url: string
  readonly token: string | undefined
  readonly storeDir: string
}

async function run(args: readonly string[]): Promise<number> {
  readArguments(args, VERBS.demo.options, { usage: USAGE, takesWords: false })
  const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-demo-'))
  const model = await startStandInModel()
  const config = readConfig({
    PORT: '0',
    STORE_DIR: storeDir,
    LOG_LEVEL: 'silent',
    OPENAI_BASE_URL: model.url,
  })
  const log = openLogger(config.logLevel)
  const service = await start({ config, fs: nodeFs, log, now: () => new Date() })
  try {
    await tellTheStory({ url: service.server.url, token: service.firstToken, storeDir })
    return 0
  } finally {
    await service.server.stop(5000)
    await service.close()
    model.close()
    rmSync(storeDir, { recursive: true, force: true })
  }
}

async function tellTheStory(server: DemoServer): Promise<void> {
  say(`A server on ${server.url}, its store in ${server.storeDir}`)

  chapter('Create an application with its first prompt')
  const created = await post(server, '/simple/applications/', {
    application: {
      slug: 'support-bot',
      name: 'Support bot',
      tags: { team: 'support' },
      data: { uri: 'svc:builtin:completion:v0', parameters: prompt('You answer tickets. Be kind.', 0.7) },
    },
  })
  const { id, variant_id: variantId } = created['application'] as { id: string; variant_id: string }

  chapter('Commit three more revisions')
  const changes: [string, object][] = [
    ['Cooler', prompt('You answer tickets. Be kind.', 0.2)],
    ['Shorter answers', prompt('You answer tickets. Be kind and brief.', 0.2)],
    ['Cite the manual', prompt('You answer tickets. Be kind and brief, and cite the manual.', 0.2)],
  ]
  for (const [message, parameters] of changes) {
    await post(server, '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: variantId,
        message,
        data: { uri: 'svc:builtin:completion:v0', parameters },
      },
    })
  }

  chapter('Fork a variant at version 2 and go on there')
  const forked = await post(server, '/applications/variants/fork', {
    application_variant: { slug: 'support-bot-warm', name: 'Warmer tone' },
    application_variant_ref: { slug: 'support-bot' },
    application_revision_ref: { version: 2 },
  })
  const warm = forked['application_variant'] as { id: string }
  await post(server, '/applications/revisions/commit', {
    application_revision_commit: {
      application_variant_id: warm.id,
      message: 'Greet by name',
      slug: 'warm-candidate',
      delta: { set: { parameters: prompt('You answer tickets. Greet {{name}} warmly.', 0.9) } },
    },
  })

  chapter('Retrieve by every kind of reference')
  const byVariant = await retrieve(server, { application_variant_ref: { slug: 'support-bot' } })
  await retrieve(server, { application_ref: { slug: 'support-bot' } })
  await retrieve(server, { application_ref: { id } })
  await retrieve(server, { application_variant_ref: { id: warm.id } })
  await retrieve(server, { application_revision_ref: { slug: 'support-bot', version: 2 } })
  await retrieve(server, { application_revision_ref: { slug: 'support-bot-3' } })
  await retrieve(server, { application_revision_ref: { slug: 'warm-candidate' } })
  await retrieve(server, {
    application_variant_ref: { slug: 'support-bot-warm' },
    application_revision_ref: { version: 1 },
  })
  await retrieve(server, { application_revision_ref: { id: byVariant } })

  chapter('Archive the latest revision, ask for the latest, bring it back')
  await post(server, `/applications/revisions/${byVariant}/archive`, {})
  await retrieve(server, { application_variant_ref: { slug: 'support-bot' } })
  await post(server, `/applications/revisions/${byVariant}/unarchive`, {})
  await retrieve(server, { application_variant_ref: { slug: 'support-bot' } })

  chapter(
    'Evaluate the first and the latest revision: does an answer cite the manual? (A stand-in answers for the model.)',
  )
  await post(server, '/simple/testsets/', {
    testset: {
      slug: 'tickets',
      data: {
        testcases: ['My lamp blinks.', 'It will not start.'].map((question) => ({ data: { question } })),
      },
    },
  })
  await post(server, '/simple/evaluators/', {
    evaluator: {
      slug: 'cites',
      template: 'auto_regex_test',
      preset: 'contains',
      data: { parameters: { regex_pattern: 'manual' } },
    },
  })
  await evaluate(server, 1)
  await evaluate(server, 4)

  chapter(
    'Deploy: an older revision to production, the latest to staging, then a new one to staging as it is committed',
  )
  await deploy(server, { slug: 'support-bot', version: 2 }, 'production', 'First release')
  await deploy(server, { slug: 'support-bot-4' }, 'staging')
  await post(server, '/applications/revisions/commit', {
    application_revision_commit: {
      application_variant_id: variantId,
      message: 'Say what comes next',
      deploy: ['staging'],
      delta: { set: { parameters: prompt('You answer tickets, and say what comes next.', 0.2) } },
    },
  })
  await retrieve(server, { environment_ref: { slug: 'production' } })
  await retrieve(server, { environment_ref: { slug: 'staging' }, application_ref: { slug: 'support-bot' } })

  const repository = join(server.storeDir, 'default', 'workflows', 'support-bot.git')
  chapter('The same, as git sees it')
  git(repository, ['log', '--graph', '--branches', '--tags', '--format=%h %an%d %s'])
  git(repository, ['show', 'support-bot'])
  git(repository, ['fsck', '--strict'])

  chapter('What is deployed, as git sees it')
  git(repository, ['log', '--format=%h %s', 'refs/environments/production'])
  git(repository, ['diff', '--stat', 'refs/environments/production', 'refs/environments/staging'])
  git(join(server.storeDir, 'default', 'environments', 'staging.git'), [
    'log',
    '--format=%h %an: %B',
    'staging',
  ])
}

async function deploy(
  server: DemoServer,
  revision: object,
  environment: string,
  message?: string,
): Promise<void> {
  await post(server, '/applications/revisions/deploy', {
    application_revision_ref: revision,
    environment_ref: { slug: environment },
    message,
  })
}

async function evaluate(server: DemoServer, version: number): Promise<void> {
  const data = await post(
    server,
    '/evaluations/run',
    {
      testset_ref: { slug: 'tickets' },
      application_revision_ref: { slug: 'support-bot', version },
      evaluator_refs: [{ slug: 'cites' }],
    },
    false,
  )
  const answer = evaluationAnswer({ type: 'result', data: data as Json })
  if ('message' in answer) throw new Error(answer.message)
  say(`\n${resultTable(answer).trimEnd()}`)
}

function prompt(system: string, temperature: number): object {
  return {
    prompt: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: '{{question}}' },
      ],
      llm_config: { model: 'gpt-4o-mini', temperature, max_tokens: 400 },
      template_format: 'curly',
    },
  }
}

/** Retrieves a revision and prints which one it was; answers its id. */
async function retrieve(server: DemoServer, references: object): Promise<string> {
  const answer = await post(server, '/applications/revisions/retrieve', references, false)
  const { id, slug, version, subject } = answer['application_revision'] as Record<string, string>
  say(`  ${JSON.stringify(references)}\n      → ${slug}, version ${version}: ${subject}`)
  return id ?? ''
}

async function post(
  server: DemoServer,
  path: string,
  body: object,
  tell = true,
): Promise<Record<string, unknown>> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`)
  if (tell) {
    const [, record] = Object.entries(answer).find(([key]) => key !== 'count') ?? []
    const { slug, version } = record as Record<string, unknown>
    say(`  POST ${path}  → ${String(slug)}${version === undefined ? '' : `, version ${String(version)}`}`)
  }
  return answer
}

function git(cwd: string, args: readonly string[]): void {
  say(`\n$ git ${args.join(' ')}`)
  const { stdout, stderr, status } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  say((stdout + stderr).trimEnd())
  if (status !== 0) throw new Error(`git ${args[0]} failed`)
}

function chapter(title: string): void {
  say(`\n── ${title}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
