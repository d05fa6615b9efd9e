import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { git } from '../../support/git/git-program.ts'
import type { Answer, Workbench } from './workbench.ts'

/** A prompt with a life: two variants that parted and met again, a tag, a signature's absence, deployments, a README, what embeds it. */
export interface SeededPrompt {
  readonly slug: string
  /** Ids of the revisions of the default variant, from version 1. */
  readonly revisions: readonly string[]
}

const SYSTEM = `You answer tickets of people in {{country}}.
Be kind, and cite the manual.
@{{workflow.slug=tone, path=voice}}`

function parameters(temperature: number, system = SYSTEM): object {
  return {
    prompt: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: '{{question}}' },
      ],
      template_format: 'curly',
      llm_config: {
        model: 'gpt-4o-mini',
        temperature,
        tools: [{ type: 'function', function: { name: 'find_page', parameters: { type: 'object' } } }],
      },
    },
    limit: {
      '@svc.embed': {
        '@svc.references': { workflow: { slug: 'tone' } },
        '@svc.selector': { path: 'parameters.limits' },
      },
    },
  }
}

/** Makes the prompt `support-bot` over REST and git. */
export async function seedPrompt(bench: Workbench): Promise<SeededPrompt> {
  const slug = 'support-bot'
  await bench.ask('POST', '/simple/workflows/', {
    workflow: {
      slug: 'tone',
      flags: { is_snippet: true },
      data: { parameters: { voice: 'Speak calmly.', limits: { words: 80 } } },
    },
  })
  const { application } = await bench.ask('POST', '/simple/applications/', {
    application: {
      slug,
      name: 'Support bot',
      description: 'Answers the tickets of the first line.',
      tags: { team: 'first line' },
      data: {
        uri: 'svc:builtin:completion:v0',
        parameters: parameters(0.7, 'You answer tickets.\nBe kind.'),
      },
    },
  })
  const commit = async (variant: string, message: string, values: object): Promise<Answer> =>
    (
      await bench.ask('POST', '/applications/revisions/commit', {
        application_revision_commit: {
          application_variant_ref: { slug: variant },
          message,
          delta: { set: values },
        },
      })
    )['application_revision']
  const second = await commit(slug, 'Cite the manual, embed the tone', { parameters: parameters(0.7) })
  await bench.ask('POST', '/variants/fork', {
    application_variant: { slug: 'warmer' },
    application_variant_ref: { slug },
  })
  await commit('warmer', 'Greet by name', {
    parameters: parameters(0.7, `${SYSTEM}\nGreet {{name}} by name.`),
  })
  const third = await commit(slug, 'Cooler', { parameters: parameters(0.2) })
  const { application_revision: merged } = await bench.ask('POST', '/applications/variants/merge', {
    source: { variant: { slug: 'warmer' } },
    target: { variant: { slug } },
    message: 'Take in what was warmer',
  })
  for (const [environment, id] of [
    ['production', second['id']],
    ['staging', merged.id],
  ]) {
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_revision_ref: { id },
      environment_ref: { slug: environment },
    })
  }
  return { slug, revisions: [application.revision_id, second['id'], third['id'], merged.id] }
}

/** Clones an artifact, does something in the clone, and pushes its branches and tags. */
export async function pushTo(
  bench: Workbench,
  slug: string,
  work: (git: (...args: string[]) => string, folder: string) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'))
  try {
    git(folder, ['clone', '-q', join(bench.storeDir, 'default/workflows', `${slug}.git`), '.'])
    work((...args) => git(folder, args), folder)
    await push(bench, slug, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Pushes so many revisions, made by `git fast-import`, on top of the artifact's default variant. */
export async function pushRevisions(bench: Workbench, slug: string, count: number): Promise<void> {
  await pushTo(bench, slug, (git, folder) => {
    const commits = Array.from({ length: count }, (_, at) =>
      [
        `commit refs/heads/${slug}`,
        `committer Pat <pat@example.com> ${1_760_000_000 + at * 60} +0000`,
        ...block(`Count ${at}`),
        ...(at === 0 ? [`from refs/heads/${slug}^0`] : []),
        'M 100644 inline data.json',
        ...block(`{\n  "parameters": {\n    "count": ${at}\n  }\n}\n`),
      ].join('\n'),
    )
    const file = join(folder, '.git', 'commits')
    writeFileSync(file, `${commits.join('\n')}\n`)
    git('-c', 'alias.import=!git fast-import --quiet --force < .git/commits', 'import')
  })
}

function block(text: string): readonly string[] {
  return [`data ${Buffer.byteLength(text)}`, text]
}

/** The server is in this process, so nothing may wait for git while it waits for the server. */
async function push(bench: Workbench, slug: string, folder: string): Promise<void> {
  const address = `${bench.url.replace('://', `://me:${bench.key}@`)}/git/workflows/${slug}.git`
  await promisify(execFile)('git', ['push', '-q', address, '--all'], { cwd: folder })
  await promisify(execFile)('git', ['push', '-q', address, '--tags'], { cwd: folder })
}
