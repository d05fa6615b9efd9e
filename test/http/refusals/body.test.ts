import { describeRefusals } from './describe-refusals.ts'

describeRefusals(
  'the body as text',
  ({ family, store }) => {
    const { singular, folder } = family
    const { refuses } = store

    /** A commit in whose data this JSON text stands where anything may stand. */
    const commitOf = (text: string) => ({
      path: `/${folder}/revisions/commit`,
      body: `{"${singular}_revision": {"${singular}_variant_id": "${store.made.botVariant}", "data": ${family.free.data(text)}}}`,
    })
    const placeAt = (...path: (string | number)[]) => [
      ['body', `${singular}_revision`, 'data', ...family.free.at, ...path],
    ]

    const malformed: readonly (readonly [string, string, string])[] = [
      ['a body cut short', `{"${singular}": {"slug": "new"`, 'line 1'],
      ['a trailing comma', `{"${singular}": {"slug": "new",}}`, 'line 1'],
      ['single quotes', `{'${singular}': {'slug': 'new'}}`, 'line 1'],
      ['a comment', `{"${singular}": {"slug": "new"}} // that is all`, 'line 1'],
      ['two texts', `{"${singular}": {"slug": "new"}}{}`, 'line 1'],
      ['NaN', `{"${singular}": {"slug": "new", "meta": {"n":\n NaN}}}`, 'line 2'],
      ['a leading zero', `{"${singular}": {"slug": "new", "meta": {"n": 01}}}`, 'line 1'],
      ['a raw line break in a string', `{"${singular}": {"slug": "new", "name": "a\nb"}}`, 'line 1'],
      ['a byte order mark', `\ufeff{"${singular}": {"slug": "new"}}`, 'byte order mark'],
    ]
    for (const [name, body, says] of malformed) {
      // interface 3.3
      it(`${name} is malformed JSON, and the answer says where`, () =>
        refuses({ path: `/${folder}`, body }, { status: 400, code: 'malformed_json', says: [says] }))
    }

    it('no body is a 422 where one is needed', () =>
      refuses(
        { path: `/${folder}` },
        { status: 422, code: 'invalid_request', says: ['body'], at: [['body']] },
      ))

    for (const body of ['[]', '"text"', '7', 'null']) {
      it(`a body that is ${body} is a 422`, () =>
        refuses({ path: `/${folder}`, body }, { status: 422, code: 'invalid_request', says: ['body'] }))
    }

    // interface 2.34
    it('another media type is a 415 that says which one is taken', () =>
      refuses(
        {
          path: `/${folder}`,
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
        { path: `/${folder}`, body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
        { status: 415, code: 'unsupported_media_type', says: ['latin1', 'UTF-8'] },
      ))

    // interface 2.34
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

    // interface 2.9
    it('a key given twice is a 422 that names it, wherever it stands', async () => {
      await refuses(commitOf('{"a": {"b": 1, "c": 2, "b": 1}}'), {
        status: 422,
        code: 'invalid_request',
        says: ['"b"'],
        at: placeAt('a', 'b'),
      })
      await refuses(
        { path: `/${folder}`, body: `{"${singular}": {"slug": "new"}, "${singular}": {"slug": "newer"}}` },
        { status: 422, code: 'invalid_request', says: [`"${singular}"`], at: [['body', singular]] },
      )
    })

    it('a key given twice under two spellings of its characters is given twice', () =>
      refuses(commitOf('{"caf\\u00e9": 1, "café": 2}'), {
        status: 422,
        code: 'invalid_request',
        says: ['café'],
        at: placeAt('café'),
      }))

    it('__proto__ given twice is given twice', () =>
      refuses(commitOf('{"__proto__": 1, "__proto__": 2}'), {
        status: 422,
        code: 'invalid_request',
        says: ['__proto__'],
        at: placeAt('__proto__'),
      }))

    for (const [name, text] of [
      ['a high surrogate alone', '\\ud800'],
      ['a low surrogate alone', 'x\\udc00'],
      ['surrogates in the wrong order', '\\udc00\\ud800'],
    ]) {
      // interface 2.9
      it(`${name} in a value is a 422 that names the place`, () =>
        refuses(commitOf(`{"list": ["fine", "${text}"]}`), {
          status: 422,
          code: 'invalid_request',
          says: ['surrogate'],
          at: placeAt('list', 1),
        }))
    }

    it('a lone surrogate in a key is a 422', () =>
      refuses(commitOf('{"\\ud800": 1}'), { status: 422, code: 'invalid_request', says: ['surrogate'] }))
  },
  { env: { MAX_BODY_BYTES: '4096', MAX_BODY_DEPTH: '12' } },
)
