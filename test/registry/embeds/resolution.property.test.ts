import { expect } from 'chai'
import fc from 'fast-check'
import { EmbedRefusal } from '../../../src/registry/embeds/embed-refusal.ts'
import { resolveEmbeds } from '../../../src/registry/embeds/resolve-embeds.ts'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { acyclicDocuments } from './arbitrary-documents.ts'
import { memoryTargets } from './memory-targets.ts'
import { Model, NothingThere, spelt } from './model.ts'
import { longToken, objectToken, shortToken } from './tokens.ts'

const LIMITS = { maxDepth: 100, maxEmbeds: 5000 }

describe('embeds: documents that embed one another', () => {
  it('resolve to what a simple model says', async () => {
    let resolved = 0
    await fc.assert(
      fc.asyncProperty(acyclicDocuments, async (documents) => {
        const model = new Model(documents)
        const host = documents.at(-1)
        const expected = attempt(() => host && model.resolved(host))
        fc.pre(model.embeds < LIMITS.maxEmbeds)
        const slugs = Object.fromEntries(documents.map((it, at) => [`s${at}`, spelt(it)]))
        // every document of the model is an object
        const data = slugs[`s${documents.length - 1}`] as JsonObject
        const before = stringifyJson(data)
        const work = resolveEmbeds(data, memoryTargets(slugs), { ...LIMITS, errorPolicy: 'exception' })
        if (expected === undefined) {
          const error = await work.then(
            () => undefined,
            (it: unknown) => it,
          )
          expect(error).to.be.instanceOf(EmbedRefusal).with.property('code', 'embed_path_not_found')
          return
        }
        const { data: answer, info } = await work
        expect(stringifyJson(answer)).to.equal(stringifyJson(expected))
        expect(info).to.deep.include({
          embeds_resolved: model.embeds,
          depth_reached: model.deepest,
          errors: [],
        })
        expect(stringifyJson(data)).to.equal(before)
        if (model.embeds > 2) resolved++
      }),
      { numRuns: 1000 },
    )
    expect(resolved).to.be.greaterThan(100)
  })

  it('are refused exactly when the host leads into a circle, which is named', async () => {
    const graph = fc.array(
      fc.array(fc.record({ to: fc.nat(5), form: fc.constantFrom('object', 'long', 'short') }), {
        maxLength: 2,
      }),
      { minLength: 6, maxLength: 6 },
    )
    let circles = 0
    await fc.assert(
      fc.asyncProperty(graph, fc.boolean(), async (edges, isHostKnown) => {
        const slugs = Object.fromEntries(
          edges.map((out, from) => [
            `s${from}`,
            { parameters: { next: out.map(({ to, form }) => token(form, to)) } },
          ]),
        )
        const work = resolveEmbeds(slugs['s0'] ?? {}, memoryTargets(slugs), {
          ...LIMITS,
          errorPolicy: 'exception',
          host: isHostKnown ? { id: 's0', slug: 's0' } : undefined,
        })
        const error = await work.then(
          () => undefined,
          (it: unknown) => it,
        )
        const next = edges.map((out) => out.map(({ to }) => to))
        if (!leadsIntoCircle(next, 0, [])) {
          expect(error).to.equal(undefined)
          return
        }
        circles++
        expect(error).to.be.instanceOf(EmbedRefusal).with.property('code', 'embed_cycle')
        const names = (error as EmbedRefusal).data.details?.['cycle'] as { slug: string }[]
        const circle = names.map(({ slug }) => Number(slug.slice(1)))
        expect(circle.at(-1)).to.equal(circle[0])
        expect(new Set(circle).size).to.equal(circle.length - 1)
        circle.slice(1).forEach((to, at) => expect(next[circle[at] ?? -1]).to.include(to))
      }),
      { numRuns: 500 },
    )
    expect(circles).to.be.greaterThan(100)
  })
})

function token(form: string, to: number): Json {
  const slug = `s${to}`
  if (form === 'object') return objectToken(slug)
  return form === 'long' ? longToken(slug) : shortToken(slug)
}

function leadsIntoCircle(
  next: readonly (readonly number[])[],
  at: number,
  before: readonly number[],
): boolean {
  if (before.includes(at)) return true
  return (next[at] ?? []).some((to) => leadsIntoCircle(next, to, [...before, at]))
}

/** What is made; undefined where a path leads nowhere. */
function attempt(make: () => Json | undefined): Json | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof NothingThere) return undefined
    throw error
  }
}
