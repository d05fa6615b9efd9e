import { expect } from 'chai'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { RenderBudget } from '../../../src/run/templates/render-budget.ts'
import { TemplateFailure } from '../../../src/run/templates/template-format.ts'
import { renderJson, renderMessages } from '../../../src/run/templates/render-prompt.ts'

describe('prompts: messages', () => {
  // interface 11.23
  it('renders contents and text parts, and nothing else', () => {
    const image = { type: 'image_url', image_url: { url: '{{x}}' } }
    const file = { type: 'file', file: { file_id: '{{x}}' } }
    const calls = [{ id: '{{x}}', type: 'function', function: { name: 'f', arguments: '{{x}}' } }]
    const messages: readonly JsonObject[] = [
      { role: 'system', content: 'Be {{x}}.', name: '{{x}}' },
      {
        role: 'user',
        content: [{ type: 'text', text: '{{x}}!' }, image, file, { type: 'refusal', refusal: '{{x}}' }],
      },
      { role: 'assistant', content: null, tool_calls: calls },
    ]
    expect(renderMessages('curly', messages, { x: 'kind' })).to.deep.equal([
      { role: 'system', content: 'Be kind.', name: '{{x}}' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'kind!' }, image, file, { type: 'refusal', refusal: '{{x}}' }],
      },
      { role: 'assistant', content: null, tool_calls: calls },
    ])
  })

  it('says where a template fails', () => {
    const failure = (content: Json): unknown => {
      try {
        return renderMessages(
          'curly',
          [
            { role: 'system', content: 'a' },
            { role: 'user', content },
          ],
          {},
        )
      } catch (error) {
        expect(error).to.be.instanceOf(TemplateFailure)
        return (error as TemplateFailure).message
      }
    }
    expect(failure('{{x}}')).to.equal(
      "messages[1].content: Unreplaced variables in curly template: ['x']. There are no variables.",
    )
    expect(
      failure([
        { type: 'text', text: '' },
        { type: 'text', text: '{{x}}' },
      ]),
    ).to.match(/^messages\[1\]\.content\[1\]\.text: Unreplaced/)
    const parts: readonly Json[] = [{ type: 'video' }, { text: 'a' }, 'a', null, { type: 'text' }]
    for (const part of parts) {
      expect(failure([part]), JSON.stringify(part)).to.match(/^messages\[1\]\.content\[0\]: A part is/)
    }
  })
})

describe('prompts: time', () => {
  it('all messages share one clock, and the failure names the message that was rendered', () => {
    const endless = { role: 'user', content: `{{ "a${'-'.repeat(100_000)}"|wordwrap }}` }
    const budget = new RenderBudget(50)
    const messages = [{ role: 'system', content: 'Short.' }, endless]
    expect(() => renderMessages('jinja2', messages, {}, budget, 'inputs.messages')).to.throw(
      TemplateFailure,
      /^inputs\.messages\[1\]\.content: Rendering took more than 50 ms/,
    )
    expect(() => renderMessages('curly', messages, {}, budget)).to.throw(
      TemplateFailure,
      /^messages: Rendering took more than 50 ms/,
    )
    expect(renderMessages('curly', [], {}, budget), 'what has nothing to render').to.deep.equal([])
  })

  it('so do all strings of a JSON value', () => {
    const schema = { a: 'Short.', b: [{ c: `{{ "a${'-'.repeat(100_000)}"|wordwrap }}` }] }
    expect(() =>
      renderJson('jinja2', schema, 'llm_config.response_format', {}, new RenderBudget(50)),
    ).to.throw(TemplateFailure, /^llm_config\.response_format\.b\[0\]\.c: Rendering took more than 50 ms/)
  })
})

describe('prompts: JSON', () => {
  it('renders every string and every key', () => {
    const format = { type: 'json_schema', '{{k}}': [{ a: '{{x}}' }, '{{x}}', 1, null, true] }
    expect(renderJson('mustache', format, 'llm_config.response_format', { x: 'X', k: 'K' })).to.deep.equal({
      type: 'json_schema',
      K: [{ a: 'X' }, 'X', 1, null, true],
    })
  })

  it('keeps keys that rendering makes of objects', () => {
    expect(
      JSON.stringify([...(renderJson('curly', { '{{k}}': 1 }, 'a', { k: '__proto__' }) as Map<string, 1>)]),
    ).to.equal('[["__proto__",1]]')
  })

  it('refuses keys that become the same, and says where', () => {
    expect(() => renderJson('curly', { a: { '{{x}}': 1, b: 2 } }, 'json_schema', { x: 'b' })).to.throw(
      TemplateFailure,
      "json_schema.a: Two keys become 'b'",
    )
    expect(() => renderJson('curly', { a: [{ b: '{{y}}' }] }, 'json_schema', {})).to.throw(
      TemplateFailure,
      /^json_schema\.a\[0\]\.b: /,
    )
    expect(() => renderJson('curly', { '{{y}}': 1 }, 'json_schema', {})).to.throw(
      TemplateFailure,
      /^json_schema\.\{\{y\}\}: /,
    )
  })
})
