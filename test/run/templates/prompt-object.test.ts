import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { PromptProblem, readPrompt } from '../../../src/run/templates/prompt-object.ts'
import { promptVariables, unwrapInputs } from '../../../src/run/templates/render-prompt.ts'

const prompt = (text: string): ReturnType<typeof readPrompt> => readPrompt(parseJson(text))

describe('prompts: the prompt object', () => {
  it('fills in what is not said', () => {
    const read = readPrompt({})
    expect(read.messages).to.deep.equal([
      { role: 'system', content: '' },
      { role: 'user', content: '' },
    ])
    expect(read).to.include({
      templateFormat: 'curly',
      fallbackPolicy: 'off',
      inputKeys: undefined,
    })
    expect(read.llmConfig).to.include({ model: 'gpt-4o-mini', temperature: undefined, tools: undefined })
    expect(read.retries).to.deep.equal({ policy: 'off', maxRetries: 0, baseDelayMs: 1000 })
    expect(prompt('{"retry_policy": "any"}').retries).to.deep.equal({
      policy: 'any',
      maxRetries: 1,
      baseDelayMs: 1000,
    })
  })

  it('makes messages of the prompts of old', () => {
    expect(readPrompt({ system_prompt: 'S', user_prompt: 'U' }).messages).to.deep.equal([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'U' },
    ])
    expect(
      readPrompt({ system_prompt: 'S', messages: [{ role: 'user', content: 'M' }] }).messages,
    ).to.deep.equal([{ role: 'user', content: 'M' }])
  })

  it('reads everything, exact numbers too, and ignores what it does not know', () => {
    const read =
      prompt(`{"messages": [{"role": "user", "content": "a", "name": null, "mood": 1}], "template_format": "jinja2",
      "input_keys": ["a"], "more": 1, "fallback_policy": "any", "fallback_configs": [{"model": "b"}], "retry_policy": "capacity",
      "retry_config": {"max_retries": 2, "base_delay": 100}, "llm_config": {"model": "a", "temperature": 1.0, "max_tokens": 10.0,
      "top_p": 0.5, "frequency_penalty": -2, "presence_penalty": 2, "reasoning_effort": "low", "chat_template_kwargs": {"a": 1},
      "connection": "mine", "stream": true, "tools": [{"type": "function"}], "tool_choice": "auto", "unknown": 1,
      "response_format": {"type": "json_schema", "x": 1, "json_schema": {"name": "n", "strict": null, "y": 1, "schema": {}}}}}`)
    expect(read.messages).to.deep.equal([{ role: 'user', content: 'a' }])
    expect(read.llmConfig).to.deep.equal({
      model: 'a',
      connection: 'mine',
      temperature: 1,
      maxTokens: 10,
      topP: 0.5,
      frequencyPenalty: -2,
      presencePenalty: 2,
      reasoningEffort: 'low',
      chatTemplateKwargs: { a: 1 },
      responseFormat: { type: 'json_schema', json_schema: { name: 'n', strict: null, schema: {} } },
      tools: [{ type: 'function' }],
      toolChoice: 'auto',
    })
    expect(read).to.include({ templateFormat: 'jinja2', fallbackPolicy: 'any' })
    expect(read.inputKeys).to.deep.equal(['a'])
    expect(read.fallbackConfigs.map(({ model }) => model)).to.deep.equal(['b'])
    expect(read.retries).to.deep.equal({ policy: 'capacity', maxRetries: 2, baseDelayMs: 100 })
  })

  it('sends a tool choice only together with tools', () => {
    expect(readPrompt({ llm_config: { tools: [], tool_choice: 'auto' } }).llmConfig.toolChoice).to.equal(
      undefined,
    )
  })

  it('says where a prompt is wrong, and what was expected', () => {
    const wrong: readonly (readonly [text: string, path: string, expected: string])[] = [
      ['[]', 'prompt', 'dict'],
      ['{"messages": {}}', 'prompt.messages', 'list'],
      ['{"messages": ["a"]}', 'prompt.messages[0]', 'dict'],
      ['{"messages": [{"content": "a"}]}', 'prompt.messages[0].role', ROLES],
      ['{"messages": [{"role": "boss"}]}', 'prompt.messages[0].role', ROLES],
      ['{"messages": [{"role": "user", "content": 1}]}', 'prompt.messages[0].content', 'str | list'],
      ['{"messages": [{"role": "user", "name": 1}]}', 'prompt.messages[0].name', 'str'],
      ['{"messages": [{"role": "tool", "tool_call_id": [1]}]}', 'prompt.messages[0].tool_call_id', 'str'],
      ['{"messages": [{"role": "user", "content": [1]}]}', 'prompt.messages[0].content[0]', 'dict'],
      [
        '{"messages": [{"role": "user", "content": [{"type": "text"}]}]}',
        'prompt.messages[0].content[0].text',
        'str',
      ],
      [
        '{"messages": [{"role": "tool", "tool_calls": [{"id": "a"}]}]}',
        'prompt.messages[0].tool_calls[0].function',
        'dict',
      ],
      ['{"template_format": "php"}', 'prompt.template_format', 'mustache | curly | fstring | jinja2'],
      ['{"input_keys": [1]}', 'prompt.input_keys', 'list[str]'],
      ['{"llm_config": 1}', 'prompt.llm_config', 'dict'],
      ['{"llm_config": {"temperature": 2.5}}', 'prompt.llm_config.temperature', 'float[0, 2]'],
      ['{"llm_config": {"temperature": "1"}}', 'prompt.llm_config.temperature', 'float[0, 2]'],
      ['{"llm_config": {"max_tokens": 1.5}}', 'prompt.llm_config.max_tokens', 'int[0, 64000]'],
      ['{"llm_config": {"stream": 1}}', 'prompt.llm_config.stream', 'bool'],
      ['{"llm_config": {"tool_choice": "all"}}', 'prompt.llm_config.tool_choice', 'none | auto | dict'],
      ['{"llm_config": {"tools": [1]}}', 'prompt.llm_config.tools[0]', 'dict'],
      [
        '{"llm_config": {"reasoning_effort": "max"}}',
        'prompt.llm_config.reasoning_effort',
        'none | low | medium | high',
      ],
      [
        '{"llm_config": {"response_format": {}}}',
        'prompt.llm_config.response_format.type',
        'text | json_object | json_schema',
      ],
      [
        '{"llm_config": {"response_format": {"type": "json_schema", "json_schema": {}}}}',
        'prompt.llm_config.response_format.json_schema.name',
        'str',
      ],
      ['{"fallback_configs": [{}, {"top_p": 2}]}', 'prompt.fallback_configs[1].top_p', 'float[0, 1]'],
      [`{"fallback_configs": [${'{},'.repeat(100)}{}]}`, 'prompt.fallback_configs', 'list[at most 100]'],
      ['{"retry_config": {"max_retries": 6}}', 'prompt.retry_config.max_retries', 'int[0, 5]'],
      ['{"retry_config": {"base_delay": 99}}', 'prompt.retry_config.base_delay', 'float[100, 1000]'],
      [
        '{"retry_policy": "always"}',
        'prompt.retry_policy',
        'off | availability | capacity | transient | any',
      ],
    ]
    for (const [text, path, expected] of wrong) {
      try {
        prompt(text)
        expect.fail(`${text} was read`)
      } catch (error) {
        expect(error, text).to.be.instanceOf(PromptProblem)
        expect(error, text).to.include({ path, expected })
      }
    }
  })
})

const ROLES = 'developer | system | user | assistant | tool | function'

describe('prompts: variables', () => {
  it('unwraps inputs that hold nothing but inputs and messages', () => {
    const unwrapped: readonly (readonly [inputs: JsonObject, meant: JsonObject])[] = [
      [{ inputs: { a: 1 } }, { a: 1 }],
      [
        { inputs: { a: 1 }, messages: [] },
        { a: 1, messages: [] },
      ],
      [
        { inputs: { a: 1 }, b: 2 },
        { inputs: { a: 1 }, b: 2 },
      ],
      [{ inputs: 'a' }, { inputs: 'a' }],
      [{}, {}],
    ]
    for (const [inputs, meant] of unwrapped) expect(unwrapInputs(inputs)).to.deep.equal(meant)
  })

  it('names every input, and all of them as inputs', () => {
    expect(promptVariables({ a: 1, inputs: 2 })).to.deep.equal({ a: 1, inputs: { a: 1, inputs: 2 } })
  })
})
