import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { acceptEnvironmentData } from '../../../src/registry/families/environment-surface.ts'
import { codeFor, refusalOf } from '../refusal-of.ts'

const loc = ['body', 'environment_revision_commit', 'data']
const ID = '0198c0de-1111-7aaa-8bbb-000000000001'

describe('environment data', () => {
  it('is stored as it was sent, keys in their order', () => {
    const sent = `{"references":{"support-bot.revision":{"application":{"slug":"support-bot","id":"${ID}"},"application_revision":{"version":3}},"a":{"evaluator_revision":{"id":"${ID}"}}}}`
    expect(stored(sent)).to.equal(sent)
  })

  it('takes any string as key and as name of a reference', () => {
    const sent =
      '{"references":{"z":{},"__proto__":{"__proto__":{"slug":"a"}},"7":{"1":{},"0":{}},"constructor":{"constructor":{}},"../x":{"a/b":{}},"":{"":{}},"\\u0000😀":{}}}'
    expect(stored(sent)).to.equal(sent)
  })

  for (const sent of ['{}', '{"references":null}', '{"references":{}}']) {
    it(`has no pins when it is ${sent}`, () => {
      expect(stored(sent)).to.equal('{"references":{}}')
    })
  }

  it('keeps groups and references that name nothing', () => {
    const sent = '{"references":{"a":{},"b":{"workflow":{}}}}'
    expect(stored(sent)).to.equal(sent)
  })

  it('makes versions numbers and ids lower case', () => {
    expect(reference(`{"version":"3","id":"${ID.toUpperCase()}"}`)).to.equal(`{"version":3,"id":"${ID}"}`)
    expect(reference('{"version":1}')).to.equal('{"version":1}')
    expect(reference('{"version":"007"}')).to.equal('{"version":7}')
  })

  it('refuses what else a reference holds, and takes null for absent', () => {
    expect(reference('{"name":null,"slug":"a","id":null,"version":null}')).to.equal('{"slug":"a"}')
    const refusal = refusalOf(() => reference('{"name":"x","slug":"a","__proto__":{}}'))
    expect(refusal.code).to.equal('unknown_field')
    expect(refusal.data.errors).to.have.length(2)
  })

  for (const [sent, place, word] of [
    ['[]', [], 'an array'],
    ['null', [], 'null'],
    ['"x"', [], 'a string'],
    ['{"parameters":{}}', ['parameters'], '"parameters" is not a key of data'],
    ['{"__proto__":{}}', ['__proto__'], '"__proto__"'],
    ['{"references":[]}', ['references'], 'an array'],
    ['{"references":"a"}', ['references'], 'a string'],
    ['{"references":{"a":null}}', ['references', 'a'], 'null'],
    ['{"references":{"a":[]}}', ['references', 'a'], 'an array'],
    ['{"references":{"__proto__":1}}', ['references', '__proto__'], 'a number'],
    ['{"references":{"a":{"application":null}}}', ['references', 'a', 'application'], 'null'],
    ['{"references":{"a":{"x":"support-bot"}}}', ['references', 'a', 'x'], 'a string'],
    ['{"references":{"a":{"x":{"id":"7"}}}}', ['references', 'a', 'x', 'id'], '"7"'],
    ['{"references":{"a":{"x":{"id":7}}}}', ['references', 'a', 'x', 'id'], '7'],
    ['{"references":{"a":{"x":{"slug":"-a"}}}}', ['references', 'a', 'x', 'slug'], '"-a"'],
    ['{"references":{"a":{"x":{"slug":""}}}}', ['references', 'a', 'x', 'slug'], 'empty'],
    ['{"references":{"a":{"x":{"slug":"../x"}}}}', ['references', 'a', 'x', 'slug'], '"../x"'],
    ['{"references":{"a":{"x":{"slug":true}}}}', ['references', 'a', 'x', 'slug'], 'a boolean'],
    ['{"references":{"a":{"x":{"version":0}}}}', ['references', 'a', 'x', 'version'], '0'],
    ['{"references":{"a":{"x":{"version":-1}}}}', ['references', 'a', 'x', 'version'], '-1'],
    ['{"references":{"a":{"x":{"version":1.5}}}}', ['references', 'a', 'x', 'version'], '1.5'],
    ['{"references":{"a":{"x":{"version":"0"}}}}', ['references', 'a', 'x', 'version'], '"0"'],
    ['{"references":{"a":{"x":{"version":"v3"}}}}', ['references', 'a', 'x', 'version'], '"v3"'],
    ['{"references":{"a":{"x":{"version":" 3"}}}}', ['references', 'a', 'x', 'version'], '" 3"'],
    ['{"references":{"a":{"x":{"version":""}}}}', ['references', 'a', 'x', 'version'], '""'],
    ['{"references":{"a":{"x":{"version":true}}}}', ['references', 'a', 'x', 'version'], 'true'],
    [
      '{"references":{"a":{"x":{"version":1.00000000000000000001}}}}',
      ['references', 'a', 'x', 'version'],
      '1.00000000000000000001',
    ],
    [
      '{"references":{"a":{"x":{"version":12345678901234567890}}}}',
      ['references', 'a', 'x', 'version'],
      '12345678901234567890',
    ],
  ] as const) {
    it(`refuses ${sent}`, () => {
      const refusal = refusalOf(() => stored(sent))
      const { message, data } = refusal
      expect(refusal.code).to.equal(codeFor(refusal, 'invalid_request'))
      expect(data.errors).to.have.length(1)
      expect(data.errors?.[0]?.loc).to.deep.equal([...loc, ...place])
      expect(data.errors?.[0]?.msg).to.contain(word)
      expect(message).to.contain([...loc, ...place].join('.'))
    })
  }

  it('names every problem at once', () => {
    const { data } = refusalOf(() =>
      stored(
        '{"a":1,"references":{"b":null,"c":{"x":1,"y":{"id":"1","slug":"","version":0}},"d":{}},"e":2,"f":null}',
      ),
    )
    expect(data.errors?.map((problem) => problem.loc.slice(loc.length).join('.'))).to.deep.equal([
      'a',
      'references.b',
      'references.c.x',
      'references.c.y.id',
      'references.c.y.slug',
      'references.c.y.version',
      'e',
    ])
  })

  it('lists a hundred problems and counts the rest', () => {
    const many = Array.from({ length: 150 }, (_, n) => `"k${n}":null`).join()
    const { message, data } = refusalOf(() => stored(`{"references":{${many}}}`))
    expect(data.errors).to.have.length(100)
    expect(message).to.match(/and 50 more problems$/)
  })
})

function stored(text: string): string {
  const context = { loc, servicesBase: 'http://127.0.0.1:3000/services' }
  return stringifyJson(acceptEnvironmentData(parseJson(text), context).data)
}

/** The reference as it is stored. */
function reference(text: string): string {
  const [before, after] = ['{"references":{"key":{"name":', '}}}']
  const whole = stored(before + text + after)
  expect(whole.startsWith(before) && whole.endsWith(after)).to.equal(true)
  return whole.slice(before.length, -after.length)
}
