import type { PlainObject } from '../../../base/json.ts'
import { llmType } from './llm-types.ts'
import { messagesType } from './message-type.ts'
import { nullable, objectType } from './object-type.ts'

/*
 * Types that describe agents. Agents do not run here, so these only define the format of descriptions stored
 * for another service.
 */

const anyObject: PlainObject = { type: 'object', additionalProperties: true }
const closed: PlainObject = { additionalProperties: false }

/** A skill of an agent, in files. */
export const skillTemplateType: PlainObject = objectType(
  {
    name: { type: 'string', maxLength: 64, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' },
    description: { type: 'string', maxLength: 1024 },
    body: { type: 'string', maxLength: 50000 },
    files: nullable({
      type: 'array',
      items: objectType(
        {
          path: { type: 'string' },
          content: { type: 'string' },
          executable: { type: 'boolean', default: false },
        },
        ['path', 'content'],
        closed,
      ),
    }),
    disable_model_invocation: { type: 'boolean', default: false },
    allow_executable_files: { type: 'boolean', default: false },
  },
  ['name', 'description', 'body'],
  { ...closed, title: 'Skill Template', 'x-svc-type': 'skill-template' },
)

/** An agent: its instructions, its model, and its tools. */
export const agentTemplateType: PlainObject = objectType(
  {
    instructions: nullable({ type: 'string' }),
    llm: nullable(llmType),
    tools: nullable({ type: 'array', items: anyObject }),
    mcps: nullable({ type: 'array', items: anyObject }),
    skills: nullable({ type: 'array', items: skillTemplateType }),
    harness: nullable(anyObject),
    runner: nullable(anyObject),
    sandbox: nullable(anyObject),
  },
  [],
  { ...closed, title: 'Agent Template', 'x-svc-type': 'agent-template' },
)

/** The request to a runner of agents. */
export const runRequestType: PlainObject = objectType(
  {
    session_id: nullable({ type: 'string' }),
    agent: agentTemplateType,
    messages: { ...messagesType, default: [] },
    inputs: nullable(anyObject),
  },
  ['agent'],
  { title: 'Run Request', 'x-svc-type': 'run_request' },
)

/** The answer of a runner of agents. */
export const runResultType: PlainObject = objectType(
  {
    status: objectType({
      code: { type: 'integer' },
      type: { type: 'string' },
      message: nullable({ type: 'string' }),
    }),
    messages: { ...messagesType, default: [] },
    usage: nullable(anyObject),
  },
  ['status'],
  { title: 'Run Result', 'x-svc-type': 'run_result' },
)
