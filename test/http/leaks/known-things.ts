import { MARK, marked, SURFACES } from '../scopes/asked-without-read.ts'
import type { RunningService } from '../../support/servers/service.ts'

export { MARK }

/** Something of a surface, by every name that a request may have for it. */
export interface Known {
  readonly singular: string
  readonly plural: string
  readonly artifact: readonly [id: string, slug: string]
  readonly variant: readonly [id: string, slug: string]
  readonly revision: readonly [id: string, slug: string]
  /** Of a testset, the id and the dedup id of a row. */
  readonly row?: readonly [id: string, dedup: string]
}

/** What is stored on one side of the folder: by surface, and what came of runs. */
export interface Side {
  readonly things: readonly Known[]
  readonly trace: string
  readonly span: string
  readonly evaluation: string
  readonly annotation: string
}

const code = {
  uri: 'svc:custom:code:v0',
  runtime: 'javascript',
  script: 'export function evaluate(inputs) { return inputs }',
  parameters: { version: '3' },
}

/** Fills one folder: an artifact of every surface, with variant, revision, chosen slug, row, trace and evaluation, all holding the word. */
export async function fill(service: RunningService, folder: string, word: string): Promise<Side> {
  const things: Known[] = []
  const surfaces = SURFACES.filter(({ singular }) => singular !== 'environment')
  for (const surface of surfaces) {
    const { singular, plural } = surface
    const slug = `${word}.${singular}`
    const data = JSON.parse(JSON.stringify(surface.data).replaceAll(MARK, word)) as object
    const made = await marked(service, { ...surface, data }, slug, word)
    await must(service.put(`/${plural}/${made.artifact}`, { [singular]: { folder } }))
    const tag = `${word}.${singular}.tag`
    const tagged = await must(
      service.post(`/${plural}/revisions/commit`, {
        [`${singular}_revision_commit`]: {
          variant_id: made.variant,
          slug: tag,
          message: word,
          data: isRun(singular) ? code : data,
        },
      }),
    )
    const rows =
      singular === 'testset'
        ? (
            await service.post('/testsets/revisions/retrieve', {
              testset_ref: { slug },
              include_testcases: true,
            })
          ).body.testset_revision.data.testcases
        : []
    things.push({
      singular,
      plural,
      artifact: [made.artifact, slug],
      variant: [made.variant, slug],
      revision: [tagged[`${singular}_revision`].id, tag],
      ...(rows[0] ? { row: [rows[0].id, rows[0].data.testcase_dedup_id ?? word] } : {}),
    })
  }
  const run = await must(
    service.post('/services/invoke', {
      references: { application: { slug: `${word}.application` } },
      data: { inputs: { text: word } },
    }),
  )
  const evaluated = await must(
    service.post('/evaluations/run', {
      testset_ref: { slug: `${word}.testset` },
      application_ref: { slug: `${word}.application` },
      evaluator_refs: [{ slug: `${word}.evaluator` }],
    }),
  )
  await must(
    service.post('/applications/revisions/deploy', {
      application_ref: { slug: `${word}.application` },
      environment_ref: { slug: 'production' },
      message: word,
    }),
  )
  const said = await must(
    service.post('/annotations', {
      annotation: {
        trace_id: run.trace_id,
        data: { outputs: { approved: true, comment: word } },
        references: { evaluator: { slug: `${word}.evaluator` } },
      },
    }),
  )
  return {
    ...{ things, trace: run.trace_id, span: run.span_id, evaluation: evaluated.evaluation.id },
    annotation: said.annotation.id,
  }
}

function isRun(singular: string): boolean {
  return singular === 'application' || singular === 'evaluator'
}

export async function must(reply: Promise<{ status: number; text: string; body: any }>): Promise<any> {
  const { status, text, body } = await reply
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}
