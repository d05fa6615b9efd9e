import { arrangeRefused } from './refused-fixture.ts'
import { refusedRequests } from './refused-requests.ts'

describe('refusals: the body as text', () => {
  const store = refusedRequests(arrangeRefused, { env: { MAX_BODY_BYTES: '4096', MAX_BODY_DEPTH: '12' } })
  const { refuses } = store

  /** A commit whose parameters are this JSON text. */
  const commitOf = (parameters: string) => ({
    path: '/workflows/revisions/commit',
    body: `{"workflow_revision": {"workflow_variant_id": "${store.made.botVariant}", "data": {"parameters": ${parameters}}}}`,
  })
  const parametersAt = (...path: (string | number)[]) => [
    ['body', 'workflow_revision', 'data', 'parameters', ...path],
  ]

  const malformed: readonly (readonly [string, string, string])[] = [
    ['a body cut short', '{"workflow": {"slug": "new"', 'line 1'],
    ['a trailing comma', '{"workflow": {"slug": "new",}}', 'line 1'],
    ['single quotes', "{'workflow': {'slug': 'new'}}", 'line 1'],
    ['a comment', '{"workflow": {"slug": "new"}} // that is all', 'line 1'],
    ['two texts', '{"workflow": {"slug": "new"}}{}', 'line 1'],
    ['NaN', '{"workflow": {"slug": "new", "meta": {"n":\n NaN}}}', 'line 2'],
    ['a leading zero', '{"workflow": {"slug": "new", "meta": {"n": 01}}}', 'line 1'],
    ['a raw line break in a string', '{"workflow": {"slug": "new", "name": "a\nb"}}', 'line 1'],
    ['a byte order mark', '\ufeff{"workflow": {"slug": "new"}}', 'byte order mark'],
  ]
  for (const [name, body, says] of malformed) {
    it(`${name} is malformed JSON, and the answer says where`, () =>
      refuses({ path: '/workflows', body }, { status: 400, code: 'malformed_json', says: [says] }))
  }

  it('no body is a 422 where one is needed', () =>
    refuses({ path: '/workflows' }, { status: 422, code: 'invalid_request', says: ['body'], at: [['body']] }))

  for (const body of ['[]', '"text"', '7', 'null']) {
    it(`a body that is ${body} is a 422`, () =>
      refuses({ path: '/workflows', body }, { status: 422, code: 'invalid_request', says: ['body'] }))
  }

  it('another media type is a 415 that says which one is taken', () =>
    refuses(
      {
        path: '/workflows',
        body: 'slug=new',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      {
        status: 415,
        code: 'unsupported_media_type',
        says: ['application/x-www-form-urlencoded', 'application/json'],
      },
    ))

  it('another charset is a 415', () =>
    refuses(
      { path: '/workflows', body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
      { status: 415, code: 'unsupported_media_type', says: ['latin1', 'UTF-8'] },
    ))

  it('a body past the limit is a 413 that names the limit', () =>
    refuses(commitOf(`{"text": "${'x'.repeat(4096)}"}`), {
      status: 413,
      code: 'body_too_large',
      says: ['4096'],
    }))

  it('a body nested deeper than the limit is a 422 that names the limit and the place', () =>
    refuses(commitOf(`{"deep": ${'['.repeat(20)}${']'.repeat(20)}}`), {
      status: 422,
      code: 'invalid_request',
      says: ['12', 'deep'],
    }))

  it('a key given twice is a 422 that names it, wherever it stands', async () => {
    await refuses(commitOf('{"a": {"b": 1, "c": 2, "b": 1}}'), {
      status: 422,
      code: 'invalid_request',
      says: ['"b"'],
      at: parametersAt('a', 'b'),
    })
    await refuses(
      { path: '/workflows', body: '{"workflow": {"slug": "new"}, "workflow": {"slug": "newer"}}' },
      { status: 422, code: 'invalid_request', says: ['"workflow"'], at: [['body', 'workflow']] },
    )
  })

  it('a key given twice under two spellings of its characters is given twice', () =>
    refuses(commitOf('{"caf\\u00e9": 1, "café": 2}'), {
      status: 422,
      code: 'invalid_request',
      says: ['café'],
      at: parametersAt('café'),
    }))

  it('__proto__ given twice is given twice', () =>
    refuses(commitOf('{"__proto__": 1, "__proto__": 2}'), {
      status: 422,
      code: 'invalid_request',
      says: ['__proto__'],
      at: parametersAt('__proto__'),
    }))

  for (const [name, text] of [
    ['a high surrogate alone', '\\ud800'],
    ['a low surrogate alone', 'x\\udc00'],
    ['surrogates in the wrong order', '\\udc00\\ud800'],
  ]) {
    it(`${name} in a value is a 422 that names the place`, () =>
      refuses(commitOf(`{"list": ["fine", "${text}"]}`), {
        status: 422,
        code: 'invalid_request',
        says: ['surrogate'],
        at: parametersAt('list', 1),
      }))
  }

  it('a lone surrogate in a key is a 422', () =>
    refuses(commitOf('{"\\ud800": 1}'), { status: 422, code: 'invalid_request', says: ['surrogate'] }))
})
