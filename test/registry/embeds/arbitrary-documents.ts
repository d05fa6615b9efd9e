import fc from 'fast-check'
import { ExactNumber, type Json } from '../../../src/base/json/json.ts'
import type { Doc, ModelEmbed } from './model.ts'

/** Text without the sign that every token begins with, so that only meant tokens are there. */
const plainText = fc
  .oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom('{{name}}', '}}', ']', '$&', '\n'))
  .map((text) => text.replaceAll('@', ''))

const key = fc.oneof(
  plainText,
  fc.constantFrom('__proto__', 'constructor', '10', '2', 'a.b', 'a/b', '..', '', 'parameters'),
)

const value = fc.oneof(
  fc.constantFrom<Json>(null, true, 0.7, new ExactNumber('1.0'), new ExactNumber('12345678901234567890')),
  fc.integer(),
  plainText,
)

/** Those that go through two documents often lead nowhere, so they are rare. */
const path = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<readonly string[] | undefined>(
      undefined,
      ['parameters', 'main'],
      ['parameters', 'more'],
    ),
  },
  { weight: 1, arbitrary: fc.constant(['parameters', 'main', 'parameters', 'main']) },
)

/** An embed of one of the documents with these numbers. */
function embed(targets: readonly number[], form: fc.Arbitrary<ModelEmbed['form']>): fc.Arbitrary<ModelEmbed> {
  return fc.record({
    form,
    target: fc.constantFrom(...targets),
    path,
    notation: fc.constantFrom<ModelEmbed['notation']>('dot', 'pointer', 'jsonpath'),
  })
}

function doc(targets: readonly number[]): fc.Arbitrary<Doc> {
  const leaf = value.map((it): Doc => ({ kind: 'value', value: it }))
  if (targets.length === 0) return leaf
  const inText = embed(targets, fc.constantFrom<ModelEmbed['form']>('long', 'short'))
  return fc.letrec<{ doc: Doc }>((tie) => ({
    doc: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 1, arbitrary: leaf },
      {
        weight: 3,
        arbitrary: embed(targets, fc.constant('object')).map((it): Doc => ({ kind: 'embed', embed: it })),
      },
      {
        weight: 3,
        arbitrary: fc
          .array(fc.oneof(plainText, inText), { minLength: 1, maxLength: 3 })
          .map((pieces): Doc => ({ kind: 'text', pieces })),
      },
      fc.array(tie('doc'), { maxLength: 3 }).map((items): Doc => ({ kind: 'list', items })),
      fc
        .uniqueArray(fc.tuple(key, tie('doc')), { maxLength: 3, selector: ([name]) => name })
        .map((entries): Doc => ({ kind: 'map', entries })),
    ),
  })).doc
}

/** A document as the data of a workflow, with two members that paths lead to. */
function data(targets: readonly number[]): fc.Arbitrary<Doc> {
  return fc
    .tuple(
      doc(targets),
      doc(targets),
      fc.uniqueArray(
        fc.tuple(
          key.filter((it) => it !== 'main' && it !== 'more'),
          doc(targets),
        ),
        { maxLength: 2, selector: ([name]) => name },
      ),
    )
    .map(([main, more, others]): Doc => ({
      kind: 'map',
      entries: [['parameters', { kind: 'map', entries: [...others, ['main', main], ['more', more]] }]],
    }))
}

/** Documents each of which embeds only those before it; the last is the host. */
export const acyclicDocuments: fc.Arbitrary<Doc[]> = fc
  .integer({ min: 2, max: 6 })
  .chain((size) =>
    fc.tuple(...Array.from({ length: size }, (_, at) => data(Array.from({ length: at }, (_, n) => n)))),
  )
