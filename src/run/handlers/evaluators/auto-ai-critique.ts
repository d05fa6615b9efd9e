import {
  entriesOf,
  fromEntries,
  getKey,
  type Json,
  type JsonObject,
  type PlainObject,
} from '../../../base/json.ts'
import type { ChatReply } from '../../models/models.ts'
import { promptVariables, renderJson, renderMessages, unwrapInputs } from '../../templates/render-prompt.ts'
import { RenderBudget } from '../../templates/render-budget.ts'
import { chosenSchema } from '../chosen-schema.ts'
import { failureOfPrompt } from '../failure-of-prompt.ts'
import { HandlerFailure, invalidOutputs } from '../handler-failure.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { jsonIn, judged, judgedOutputs } from '../scoring.ts'
import { type JudgeParameters, readJudgeParameters } from './judge-parameters.ts'
import { type BuiltInSchemas, closedObject, openObject } from '../../../registry/workflows.ts'
import type { CatalogPreset } from '../../catalog/catalog-template.ts'

const score: PlainObject = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'From 0, not at all, to 1, fully.',
}

/** Presets for the most common judgements. */
const judgePresets: readonly CatalogPreset[] = [
  judge({
    key: 'hallucination',
    name: 'Hallucination Detection',
    description: 'Does the output keep to what it was given? Fails outputs that make things up.',
    system:
      'You check answers for claims that nothing supports. A claim is supported when it follows from what the assistant was ' +
      'given, or is beyond doubt common knowledge. Style, length and usefulness do not matter.',
    user:
      'What the assistant was given:\n{{inputs}}\n\nWhat it answered:\n{{outputs}}\n\n' +
      'Look at the claims of the answer one by one. Give score true when all of them are supported, false when any is not.',
    verdict: {
      score: { type: 'boolean', description: 'Whether every claim of the answer is supported.' },
    },
  }),
  judge({
    key: 'conciseness',
    name: 'Conciseness',
    description: 'Does the output say what is asked for and nothing else?',
    system:
      'You judge how concise answers are. A concise answer says all that was asked for, once, in plain words. Repetition, ' +
      'small talk, restating the question and unasked advice all count against it; so does leaving out something needed.',
    user:
      'What the assistant was given:\n{{inputs}}\n\nWhat it answered:\n{{outputs}}\n\n' +
      'Name in one sentence what could go, or what is missing, and give a score.',
    verdict: {
      score,
      comment: { type: 'string', description: 'What could go, or what is missing, in one sentence.' },
    },
  }),
  judge({
    key: 'answer_relevancy',
    name: 'Answer Relevancy',
    description: 'Does the output answer a question, rather than talk around one?',
    system:
      'You judge whether a text commits itself to an answer. You see only the text, not what was asked. A text that evades, ' +
      'is vague, or only says that it does not know answers nothing.',
    user:
      'The text:\n{{outputs}}\n\nWrite the one question that this text answers best. Give score 1 when it does answer it, and 0 ' +
      'when it evades.',
    verdict: {
      question: { type: 'string', description: 'The question that the text answers best.' },
      score: { type: 'number', enum: [0, 1], description: '1 when the text answers it, 0 when it evades.' },
    },
  }),
  judge({
    key: 'helpfulness',
    name: 'Helpfulness',
    description: 'Would the output help whoever asked?',
    system:
      'You judge whether an answer helps whoever asked. It helps when it meets the need behind the request, is right, and can be ' +
      'acted on. Politeness alone helps nobody.',
    user:
      'The request:\n{{inputs}}\n\nThe answer:\n{{outputs}}\n\n' +
      'Weigh in a few sentences what helps and what does not, and then give a score.',
    verdict: {
      reasoning: { type: 'string', description: 'What helps and what does not.' },
      score,
    },
  }),
]

interface Judge {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly system: string
  readonly user: string
  /** The fields of the judge's answer, in the order in which it should consider them. */
  readonly verdict: PlainObject
}

function judge({ key, name, description, system, user, verdict }: Judge): CatalogPreset {
  const schema = {
    type: 'object',
    properties: verdict,
    required: Object.keys(verdict),
    additionalProperties: false,
  }
  const parameters = {
    prompt_template: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    template_format: 'mustache',
    model: 'gpt-4o-mini',
    response_type: 'json_schema',
    json_schema: { name: 'schema', schema, strict: true },
    version: '5',
  }
  return { key, name, description, categories: ['ai_llm'], parameters }
}

/** The schemas of a judge. */
const judgeSchemas: BuiltInSchemas = {
  parameters: closedObject(
    {
      prompt_template: {
        type: 'array',
        default: [
          {
            role: 'system',
            content:
              'You grade the work of an assistant. Judge strictly and answer only with the fields asked for.',
          },
          {
            role: 'user',
            content:
              'Expected: {{correct_answer}}\nAnswered: {{outputs}}\nDoes the answer say the same as the expected one?',
          },
        ],
        'x-svc-type-ref': 'messages',
        title: 'Question to the judge',
        description:
          'The messages that the judge answers; {{inputs}}, {{outputs}} and the name of any input stand for their values.',
      },
      model: {
        type: 'string',
        default: 'gpt-4o',
        'x-svc-type-ref': 'model',
        title: 'Judge',
        description: 'The model that judges, such as gpt-4o.',
      },
      connection: {
        type: ['string', 'null'],
        default: null,
        'x-svc-type': 'hidden',
        title: 'Connection',
        description: 'The connection that the model is called over, if several have it.',
      },
      response_type: {
        type: 'string',
        default: 'json_schema',
        'x-svc-type': 'hidden',
        'x-svc-ui-advanced': true,
        title: 'Form of the reply',
        description:
          'What the judge replies with: text, any JSON object (json_object), or what the verdict says (json_schema).',
      },
      json_schema: judgement(),
      template_format: {
        type: 'string',
        enum: ['mustache', 'curly', 'fstring', 'jinja2'],
        'x-svc-type': 'hidden',
        title: 'Form of variables',
        description: 'How variables are written in the messages: {{name}} in mustache, {name} in fstring.',
      },
      version: {
        type: 'string',
        default: '5',
        'x-svc-type': 'hidden',
        title: 'Version of the judge',
        description: 'Decides what the form of variables and of the reply are if they are not set.',
      },
    },
    ['prompt_template'],
  ),
  inputs: openObject({}),
  // For a judge without a response schema, which would replace this one.
  outputs: judged,
}

/** The response schema of the model's verdict. */
function judgement(): PlainObject {
  return {
    type: 'object',
    properties: {
      name: {
        type: 'string',
        default: 'schema',
        title: 'Name',
        description: 'What the model is told that the verdict is called.',
      },
      schema: { type: 'object', title: 'Schema', description: 'The JSON Schema of the verdict.' },
      strict: {
        type: ['boolean', 'null'],
        default: true,
        title: 'Strict',
        description: 'Whether the model may reply with nothing but what the schema allows.',
      },
    },
    default: {
      name: 'schema',
      schema: {
        type: 'object',
        properties: { score: { type: 'boolean', description: 'Whether the answer is right.' } },
        required: ['score'],
        additionalProperties: false,
      },
      strict: true,
    },
    'x-svc-type': 'llm_response_schema',
    title: 'Verdict',
    description:
      'What the judge replies with, as a JSON Schema: a score, for example, and the reason for it.',
  }
}

/**
 * `svc:builtin:auto_ai_critique:v0` (interface 11.17): a model grades outputs by a prompt. Its reply is
 * parsed as JSON: a number or a boolean is the score, an object becomes the outputs unchanged. Throws a
 * `HandlerFailure`.
 */
export const autoAiCritique: HandlerDefinition = {
  key: 'auto_ai_critique',
  kind: 'builtin',
  schemas: judgeSchemas,
  computedOutputs: (parameters) => chosenSchema(parameters, 'json_schema', 'schema'),
  template: {
    name: 'LLM-as-a-judge',
    description: 'Has a language model judge the output, in the form that you ask for.',
    roles: 'evaluator',
    categories: ['ai_llm'],
    callsModels: true,
  },
  presets: judgePresets,
  run,
}

async function run(request: HandlerRequest, { models, span, untilGone }: HandlerContext): Promise<Json> {
  try {
    const parameters = readJudgeParameters(request.parameters)
    const { model, connection, threshold } = parameters
    const rendered = render(parameters, variablesOf(request, parameters.correctAnswerKey))
    return outputsOf(
      await models.chat({ model, connection, ...rendered, signal: untilGone() }, span),
      threshold,
    )
  } catch (error) {
    // a judge's message begins with its place (interface 11.17)
    throw failureOfPrompt(error, '')
  }
}

/** The variables of the prompt (interface 11.17); of two with the same name, the later counts. */
function variablesOf(request: HandlerRequest, correctAnswerKey: string | undefined): JsonObject {
  const inputs = unwrapInputs(request.inputs ?? {})
  const answer = correctAnswerKey === undefined ? undefined : getKey(inputs, correctAnswerKey)
  return fromEntries([
    ['parameters', request.parameters],
    ...named(['ground_truth', 'correct_answer', 'reference'], answer),
    // null unless they were sent or are in the inputs
    ...named(['prediction', 'outputs', 'trace'], null),
    ...entriesOf(promptVariables(inputs)),
    ...named(['prediction', 'outputs'], request.outputs),
    ...named(['trace'], request.trace),
  ])
}

function named(names: readonly string[], value: Json | undefined): [string, Json][] {
  return value === undefined ? [] : names.map((name) => [name, value])
}

function render(
  { templateFormat, messages, responseType, jsonSchema }: JudgeParameters,
  variables: JsonObject,
): { readonly messages: readonly JsonObject[]; readonly responseFormat: JsonObject } {
  const budget = new RenderBudget()
  const rendered = renderMessages(templateFormat, messages, variables, budget)
  if (!jsonSchema) return { messages: rendered, responseFormat: { type: responseType } }
  const schema = renderJson(templateFormat, jsonSchema, 'json_schema', variables, budget)
  return { messages: rendered, responseFormat: { type: responseType, json_schema: schema } }
}

/** The outputs from the reply's text, or from its refusal if it has no text. */
function outputsOf({ message }: ChatReply, threshold: number): Json {
  const reply = getKey(message, 'content') ?? getKey(message, 'refusal')
  const answer = typeof reply === 'string' ? jsonIn(reply.trim()) : reply
  const outputs = judgedOutputs(answer, threshold)
  if (outputs === undefined) throw nonsense(reply)
  return outputs
}

/** A reply without a verdict is the model's fault, not the request's (interface 3.9). */
function nonsense(reply: Json | undefined): HandlerFailure {
  const { id, message } = invalidOutputs('dict | float | bool', reply)
  const hint =
    'The model has to reply with a number, a boolean or an object in JSON; ask for that in prompt_template.'
  return new HandlerFailure(id, `${message}\n${hint}`, undefined, 424)
}
