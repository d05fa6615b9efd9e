import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import type { HandlerContext, HandlerRequest } from '../../../../src/run/handlers/handler.ts'
import { builtInHandlers } from '../../../../src/run/handlers/built-in-handlers.ts'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { ExactNumber, isJsonObject } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { type ChatCall, ModelFailure, type Models } from '../../../../src/run/models/models.ts'
import { handlerContext, handlerRequest } from '../handler-context.ts'

const autoAiCritique = builtInHandlers.get('auto_ai_critique') ?? expect.fail('there is no auto_ai_critique')

/** A model that gives one reply, or fails, and the calls it was sent. */
function modelThat(reply: JsonObject | ModelFailure): { context: HandlerContext; calls: ChatCall[] } {
  const calls: ChatCall[] = []
  const nobody = (): never => expect.fail('a judge asks nobody else')
  const models: Models = {
    chat: async (call) => {
      calls.push(call)
      if (reply instanceof ModelFailure) throw reply
      const tokens = { prompt: 0, completion: 0, total: 0 }
      return { message: reply, usage: { tokens }, finishReason: 'stop' }
    },
    streamChat: nobody,
    embed: nobody,
    problemOf: nobody,
  }
  return { context: handlerContext({}, { models }), calls }
}

function requestOf(parameters: JsonObject, sent: Partial<HandlerRequest> = {}): HandlerRequest {
  return handlerRequest({ parameters, ...sent })
}

const PROMPT: JsonObject = { prompt_template: [{ role: 'user', content: 'Grade.' }] }

async function judged(reply: string, parameters: JsonObject = {}): Promise<unknown> {
  const { context } = modelThat({ role: 'assistant', content: reply })
  return autoAiCritique(requestOf({ ...PROMPT, ...parameters }), context)
}

async function failureOf(run: unknown): Promise<HandlerFailure> {
  const failure = await Promise.resolve(run).then(
    () => expect.fail('the judge judged'),
    (error: unknown) => error,
  )
  if (failure instanceof HandlerFailure) return failure
  throw failure
}

async function sentFor(parameters: JsonObject, sent: Partial<HandlerRequest> = {}): Promise<ChatCall> {
  const { context, calls } = modelThat({ role: 'assistant', content: '1' })
  await autoAiCritique(requestOf(parameters, sent), context)
  return calls[0] ?? expect.fail('nothing was sent')
}

/** The messages sent for a prompt of one. */
async function rendered(
  content: string,
  parameters: JsonObject,
  sent: Partial<HandlerRequest>,
): Promise<readonly JsonObject[]> {
  const { messages } = await sentFor({ prompt_template: [{ role: 'user', content }], ...parameters }, sent)
  return messages
}

describe('handlers: the judge', () => {
  // interface 11.17
  it('makes a score of a number or a boolean, and outputs of an object', async () => {
    expect(await judged('0.7')).to.deep.equal({ score: 0.7, success: true })
    expect(await judged(' 0.4\n')).to.deep.equal({ score: 0.4, success: false })
    expect(await judged('1.0')).to.deep.equal({ score: new ExactNumber('1.0'), success: true })
    expect(await judged('true')).to.deep.equal({ score: true, success: true })
    expect(await judged('false')).to.deep.equal({ score: false, success: false })
    expect(await judged('{"score": 0.1, "why": "a"}')).to.deep.equal({ score: 0.1, why: 'a' })
  })

  it('takes 0.5 for its threshold unless another is set', async () => {
    expect(await judged('0.5')).to.deep.equal({ score: 0.5, success: true })
    for (const threshold of [0, null, false, '', []]) {
      expect(await judged('0.4', { threshold }), String(threshold)).to.deep.equal({
        score: 0.4,
        success: false,
      })
    }
    expect(await judged('0.5', { threshold: 0.6 })).to.deep.equal({ score: 0.5, success: false })
    expect(await judged('1.5', { threshold: 2 })).to.deep.equal({ score: 1.5, success: false })
    expect(await judged('3', { threshold: new ExactNumber('2.0') })).to.deep.equal({
      score: 3,
      success: true,
    })
  })

  // interface 11.17
  it('refuses a reply that grades nothing', async () => {
    for (const reply of ['good', '"0.5"', '[1]', 'null', '', '```json\n1\n```']) {
      const failure = await failureOf(judged(reply))
      expect(failure, reply).to.include({ id: 'v0:schemas:invalid-outputs', status: 424 })
      expect(failure.message).to.include('The model has to reply with')
    }
    const refused = modelThat({ role: 'assistant', refusal: 'I will not.' })
    expect((await failureOf(autoAiCritique(requestOf(PROMPT), refused.context))).message).to.include(
      'I will not.',
    )
  })

  it('names the first parameter that is wrong', async () => {
    const wrong: readonly (readonly [parameters: JsonObject, id: string, at: string])[] = [
      [{}, 'missing-parameter', 'prompt_template'],
      [{ prompt_template: 'a', version: 1 }, 'invalid-parameter', 'prompt_template'],
      [{ prompt_template: [{ role: 'boss' }] }, 'invalid-parameter', 'prompt_template[0].role'],
      [{ prompt_template: [{ content: 'a' }] }, 'missing-parameter', 'prompt_template[0].role'],
      [{ ...PROMPT, version: 5 }, 'invalid-parameter', 'version'],
      [{ ...PROMPT, template_format: 'php' }, 'invalid-parameter', 'template_format'],
      [{ ...PROMPT, model: 1 }, 'invalid-parameter', 'model'],
      [{ ...PROMPT, connection: 1 }, 'invalid-parameter', 'connection'],
      [{ ...PROMPT, response_type: 'xml' }, 'invalid-parameter', 'response_type'],
      [{ ...PROMPT, response_type: 'json_schema' }, 'missing-parameter', 'json_schema'],
      [{ ...PROMPT, version: '4' }, 'missing-parameter', 'json_schema'],
      [{ ...PROMPT, version: '4', json_schema: [] }, 'invalid-parameter', 'json_schema'],
      [{ ...PROMPT, threshold: '0.5' }, 'invalid-parameter', 'threshold'],
      [{ ...PROMPT, threshold: true }, 'invalid-parameter', 'threshold'],
    ]
    for (const [parameters, id, at] of wrong) {
      const { context, calls } = modelThat({ role: 'assistant', content: '1' })
      const failure = await failureOf(autoAiCritique(requestOf(parameters), context))
      expect(failure, at).to.include({ id: `v0:schemas:${id}`, status: 400 })
      expect(failure.message).to.include(`At '${at}'`)
      expect(calls).to.deep.equal([])
    }
  })

  it('asks the model as the parameters say', async () => {
    expect(await sentFor(PROMPT)).to.deep.include({
      model: 'gpt-3.5-turbo',
      connection: undefined,
      messages: [{ role: 'user', content: 'Grade.' }],
      responseFormat: { type: 'text' },
    })
    const schema = { name: 'schema', schema: { properties: { '{{x}}': { const: '{{x}}' } } } }
    const call = await sentFor(
      {
        ...PROMPT,
        model: 'm',
        connection: 'c',
        version: '5',
        response_type: 'json_schema',
        json_schema: schema,
      },
      { inputs: { x: 'X' } },
    )
    expect(call).to.deep.include({
      model: 'm',
      connection: 'c',
      responseFormat: {
        type: 'json_schema',
        json_schema: { name: 'schema', schema: { properties: { X: { const: 'X' } } } },
      },
    })
  })

  it('renders in the format of its version, or the one that is set', async () => {
    const sent = { inputs: { x: 'X' } }
    const message = (content: string): unknown => [{ role: 'user', content }]
    expect(await rendered('{x} {{x}}', { version: '2' }, sent)).to.deep.equal(message('X {x}'))
    expect(await rendered('{{x}}{{z}}', { version: '5' }, sent)).to.deep.equal(message('X'))
    expect(await rendered('{{x}}', { version: 'constructor' }, sent)).to.deep.equal(message('X'))
    expect(await rendered('{x} {{x}}', {}, sent)).to.deep.equal(message('{x} X'))
    expect(await rendered('{{ x|lower }}', { version: '5', template_format: 'jinja2' }, sent)).to.deep.equal(
      message('x'),
    )
  })

  it('lets the prompt name inputs, answer, outputs, trace and parameters', async () => {
    const all =
      '{{x}} {{inputs.x}} {{ground_truth}}{{correct_answer}}{{reference}} {{prediction}} {{outputs}} {{trace}} {{parameters.model}}'
    const parameters = { correct_answer_key: 'answer', model: 'm' }
    const sent = { inputs: { x: 'X', answer: 4 }, outputs: parsed('{"a": 1.0}'), trace: { t: 1 } }
    const text = 'X X 444 {"a": 1.0} {"a": 1.0} {"t": 1} m'
    expect(await rendered(all, parameters, sent)).to.deep.equal([{ role: 'user', content: text }])
    expect(await rendered(all, parameters, { ...sent, inputs: { inputs: sent.inputs } })).to.deep.equal([
      { role: 'user', content: text },
    ])
    expect(await rendered('{{outputs}} {{trace}}', {}, {})).to.deep.equal([
      { role: 'user', content: 'null null' },
    ])
    // an input of that name yields to what is scored
    expect(
      await rendered('{{outputs}}', {}, { inputs: { outputs: 'mine' }, outputs: 'scored' }),
    ).to.deep.equal([{ role: 'user', content: 'scored' }])
  })

  it('says where a template fails', async () => {
    const { context } = modelThat({ role: 'assistant', content: '1' })
    const template = [{ role: 'user', content: '{{z}}' }]
    const failure = await failureOf(autoAiCritique(requestOf({ prompt_template: template }), context))
    expect(failure).to.include({ id: 'v0:workflows:prompt-formatting-error', status: 400 })
    expect(failure.message).to.match(/^messages\[0\]\.content: .*\['z'\]/)
  })

  it('passes on why the model failed', async () => {
    const { context } = modelThat(
      new ModelFailure('credential', "No API key found for model 'm': set OPENAI_API_KEY."),
    )
    const failure = await failureOf(autoAiCritique(requestOf(PROMPT), context))
    expect(failure).to.include({ id: 'v0:schemas:invalid-secrets', status: 424 })
    expect(failure.message).to.include('OPENAI_API_KEY')
  })
})

function parsed(text: string): JsonObject {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error('the outputs of this test are an object')
  return value
}
