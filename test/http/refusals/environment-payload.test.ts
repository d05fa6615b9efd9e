import { environments } from '../conformance/tested-family.ts'
import { arrangeRefused } from './refused-fixture.ts'
import type { Loc } from './refused-payloads.ts'
import { refusedPayloads } from './refused-payloads.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: payloads of environments', () => {
  const store = refusedRequests((service) => arrangeRefused(service, environments))
  const { refusesData, refusesUnknown, refusesDelta } = refusedPayloads(environments, store)
  const inGroup = (reference: unknown) => ({ references: { 'bot.revision': { application: reference } } })
  const at = ['references', 'bot.revision', 'application']

  it('an unknown key of data is named', () => refusesUnknown({ pins: {} }, [['pins']], '"pins"'))

  it('every problem is named at once, wherever it stands', () =>
    refusesUnknown(
      { pins: {}, references: { a: null, b: { x: 7, y: { id: '7', version: 0 } }, c: {} } },
      [
        ['pins'],
        ['references', 'a'],
        ['references', 'b', 'x'],
        ['references', 'b', 'y', 'id'],
        ['references', 'b', 'y', 'version'],
      ],
      'pins',
      'references.a',
      'references.b.x',
    ))

  it('an unknown key of a reference is named', () =>
    refusesUnknown(inGroup({ slug: 'bot', vresion: 1 }), [[...at, 'vresion']], 'did you mean version?'))

  const wrong: readonly (readonly [unknown, Loc, string])[] = [
    [[], [], 'data must be an object'],
    ['text', [], 'data must be an object'],
    [{ references: [] }, ['references'], 'references must be an object'],
    [{ references: { 'bot.revision': [] } }, ['references', 'bot.revision'], 'a group must be an object'],
    [inGroup(null), at, 'null'],
    [inGroup('bot'), at, 'a reference must be an object'],
    [inGroup({ id: 'bot' }), [...at, 'id'], '"bot"'],
    [inGroup({ slug: 'a/b' }), [...at, 'slug'], '"a/b"'],
    [inGroup({ slug: 'bot', version: 1.5 }), [...at, 'version'], '1.5'],
  ]
  for (const [data, place, says] of wrong) {
    it(`${JSON.stringify(data)} is refused at ${['data', ...place].join('.')}`, () =>
      refusesData(data, [place], says))
  }

  const deltas: readonly (readonly [unknown, Loc, string?])[] = [
    [[], []],
    [{ references: {} }, ['references'], 'unknown_field'],
    [{ operations: [] }, ['operations'], 'unknown_field'],
    [{ set: [] }, ['set']],
    [{ remove: 'bot.revision' }, ['remove']],
    [{ remove: ['bot.revision', 7] }, ['remove', 1]],
  ]
  for (const [delta, place, code = 'invalid_delta'] of deltas) {
    it(`the delta ${JSON.stringify(delta)} is refused`, () => refusesDelta(delta, code, place))
  }

  it('a delta that sets what is no group of references is refused at each', () =>
    refusesDelta(
      { set: { a: null, b: { x: { id: '7' } }, c: {} } },
      'invalid_request',
      ['set', 'a'],
      ['set', 'b', 'x', 'id'],
    ))
})
