import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { nodeFs } from '../src/storage/node-fs.ts'
import { openLogger } from '../src/http/server/logger.ts'
import type { Json } from '../src/json/json.ts'
import { start } from '../src/server/start.ts'
import { startStandInModel } from './demo/stand-in-model.ts'
import { evaluationAnswer } from './evaluate/evaluation-answer.ts'
import { resultTable } from './evaluate/result-table.ts'

/**
 * `npm run demo`: the real server on a temporary store and a free port; a prompt's life through REST, evaluated and deployed, then
 * the repository that it made, as git shows it. It keeps to itself: BRANCHPOINT_URL is another server, and nobody's data is touched.
 */
const storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-demo-'))
const model = await startStandInModel()
const config = readConfig({ PORT: '0', STORE_DIR: storeDir, LOG_LEVEL: 'silent', OPENAI_BASE_URL: model.url })
const service = await start({ config, fs: nodeFs, log: openLogger(config.logLevel), now: () => new Date() })
const { url } = service.server

try {
  await tellTheStory()
} finally {
  await service.server.stop(5000)
  await service.close()
  model.close()
  rmSync(storeDir, { recursive: true, force: true })
}

async function tellTheStory(): Promise<void> {
  say(`A server on ${url}, its store in ${storeDir}`)

  chapter('Create an application with its first prompt')
  const created = await post('/simple/applications/', {
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
    await post('/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_id: variantId,
        message,
        data: { uri: 'svc:builtin:completion:v0', parameters },
      },
    })
  }

  chapter('Fork a variant at version 2 and go on there')
  const forked = await post('/applications/variants/fork', {
    application_variant: { slug: 'support-bot-warm', name: 'Warmer tone' },
    application_variant_ref: { slug: 'support-bot' },
    application_revision_ref: { version: 2 },
  })
  const warm = forked['application_variant'] as { id: string }
  await post('/applications/revisions/commit', {
    application_revision_commit: {
      application_variant_id: warm.id,
      message: 'Greet by name',
      slug: 'warm-candidate',
      delta: { set: { parameters: prompt('You answer tickets. Greet {{name}} warmly.', 0.9) } },
    },
  })

  chapter('Retrieve by every kind of reference')
  const byVariant = await retrieve({ application_variant_ref: { slug: 'support-bot' } })
  await retrieve({ application_ref: { slug: 'support-bot' } })
  await retrieve({ application_ref: { id } })
  await retrieve({ application_variant_ref: { id: warm.id } })
  await retrieve({ application_revision_ref: { slug: 'support-bot', version: 2 } })
  await retrieve({ application_revision_ref: { slug: 'support-bot-3' } })
  await retrieve({ application_revision_ref: { slug: 'warm-candidate' } })
  await retrieve({
    application_variant_ref: { slug: 'support-bot-warm' },
    application_revision_ref: { version: 1 },
  })
  await retrieve({ application_revision_ref: { id: byVariant } })

  chapter('Archive the latest revision, ask for the latest, bring it back')
  await post(`/applications/revisions/${byVariant}/archive`, {})
  await retrieve({ application_variant_ref: { slug: 'support-bot' } })
  await post(`/applications/revisions/${byVariant}/unarchive`, {})
  await retrieve({ application_variant_ref: { slug: 'support-bot' } })

  chapter(
    'Evaluate the first and the latest revision: does an answer cite the manual? (A stand-in answers for the model.)',
  )
  await post('/simple/testsets/', {
    testset: {
      slug: 'tickets',
      data: {
        testcases: ['My lamp blinks.', 'It will not start.'].map((question) => ({ data: { question } })),
      },
    },
  })
  await post('/simple/evaluators/', {
    evaluator: {
      slug: 'cites',
      template: 'auto_regex_test',
      preset: 'contains',
      data: { parameters: { regex_pattern: 'manual' } },
    },
  })
  await evaluate(1)
  await evaluate(4)

  chapter(
    'Deploy: an older revision to production, the latest to staging, then a new one to staging as it is committed',
  )
  await deploy({ slug: 'support-bot', version: 2 }, 'production', 'First release')
  await deploy({ slug: 'support-bot-4' }, 'staging')
  await post('/applications/revisions/commit', {
    application_revision_commit: {
      application_variant_id: variantId,
      message: 'Say what comes next',
      deploy: ['staging'],
      delta: { set: { parameters: prompt('You answer tickets, and say what comes next.', 0.2) } },
    },
  })
  await retrieve({ environment_ref: { slug: 'production' } })
  await retrieve({ environment_ref: { slug: 'staging' }, application_ref: { slug: 'support-bot' } })

  const repository = join(storeDir, 'default', 'workflows', 'support-bot.git')
  chapter('The same, as git sees it')
  git(repository, ['log', '--graph', '--branches', '--tags', '--format=%h %an%d %s'])
  git(repository, ['show', 'support-bot'])
  git(repository, ['fsck', '--strict'])

  chapter('What is deployed, as git sees it')
  git(repository, ['log', '--format=%h %s', 'refs/environments/production'])
  git(repository, ['diff', '--stat', 'refs/environments/production', 'refs/environments/staging'])
  git(join(storeDir, 'default', 'environments', 'staging.git'), ['log', '--format=%h %an: %B', 'staging'])
}

async function deploy(revision: object, environment: string, message?: string): Promise<void> {
  await post('/applications/revisions/deploy', {
    application_revision_ref: revision,
    environment_ref: { slug: environment },
    message,
  })
}

async function evaluate(version: number): Promise<void> {
  const data = await post(
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

/** Retrieves and prints which revision it was; answers its id. */
async function retrieve(references: object): Promise<string> {
  const answer = await post('/applications/revisions/retrieve', references, false)
  const { id, slug, version, message } = answer['application_revision'] as Record<string, string>
  say(`  ${JSON.stringify(references)}\n      → ${slug}, version ${version}: ${message ?? '(no message)'}`)
  return id ?? ''
}

async function post(path: string, body: object, tell = true): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${service.firstToken}`, 'content-type': 'application/json' },
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
