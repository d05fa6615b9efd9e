import { queries } from '../conformance/tested-family.ts'
import { arrangeRefused } from './refused-fixture.ts'
import type { Loc } from './refused-payloads.ts'
import { refusedPayloads } from './refused-payloads.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: payloads of queries', () => {
  const store = refusedRequests((service) => arrangeRefused(service, queries))
  const { refusesData, refusesUnknown, refusesDelta } = refusedPayloads(queries, store)
  const where = (...conditions: readonly unknown[]) => ({ filtering: { conditions } })
  const first = ['filtering', 'conditions', 0]

  // interface 13.4
  it('an unknown key of data is named', () => refusesUnknown({ filter: {} }, [['filter']], '"filter"'))

  it('every problem is named at once, wherever it stands', () =>
    refusesUnknown(
      {
        formatting: { focus: 'traces', colour: 'red' },
        filtering: { operator: 'xor', conditions: [{}, { conditions: [{ field: 7 }] }] },
        windowing: { limit: 0 },
      },
      [
        ['formatting', 'focus'],
        ['formatting', 'colour'],
        ['filtering', 'operator'],
        ['filtering', 'conditions', 0],
        ['filtering', 'conditions', 1, 'conditions', 0, 'field'],
        ['windowing', 'limit'],
      ],
      'formatting.focus',
      '"xor"',
      'windowing.limit',
    ))

  it('an unknown key of a condition is named', () =>
    refusesUnknown(where({ field: 'a', values: [] }), [[...first, 'values']], 'did you mean value?'))

  const wrong: readonly (readonly [unknown, Loc, string])[] = [
    [[], [], 'data must be an object'],
    ['text', [], 'data must be an object'],
    [{ formatting: 'trace' }, ['formatting'], 'a string'],
    [{ formatting: { format: 'xml' } }, ['formatting', 'format'], '"xml"'],
    [{ filtering: [] }, ['filtering'], 'an array'],
    [{ filtering: {} }, ['filtering'], '"conditions"'],
    [where('trace'), first, 'a string'],
    [where({ value: 1 }), first, '"field"'],
    [where({ field: 'a', operator: 'equals' }), [...first, 'operator'], '"equals"'],
    [where({ field: 'a', options: { all: 1 } }), [...first, 'options', 'all'], 'all'],
    [{ windowing: { limit: '5' } }, ['windowing', 'limit'], '"5"'],
    [{ windowing: { order: 'up' } }, ['windowing', 'order'], 'ascending, descending'],
    [{ windowing: { newest: 'yesterday' } }, ['windowing', 'newest'], '"yesterday"'],
    [{ windowing: { rate: 2 } }, ['windowing', 'rate'], '2'],
  ]
  for (const [data, place, says] of wrong) {
    it(`${JSON.stringify(data)} is refused at ${['data', ...place].join('.')}`, () =>
      refusesData(data, [place], says))
  }

  const deltas: readonly (readonly [unknown, Loc])[] = [
    [{}, []],
    [[], []],
    [{ set: [] }, ['set']],
    [{ remove: 'windowing.limit' }, ['remove']],
    [{ remove: ['windowing.limit', 7] }, ['remove', 1]],
    [{ operations: [] }, ['operations']],
  ]
  for (const [delta, place] of deltas) {
    it(`the delta ${JSON.stringify(delta)} is refused`, () => refusesDelta(delta, 'invalid_delta', place))
  }

  it('a delta whose result is no payload is refused at what it sets', () =>
    refusesDelta({ set: { windowing: { limit: 0 } } }, 'invalid_request', ['set', 'windowing', 'limit']))
})
