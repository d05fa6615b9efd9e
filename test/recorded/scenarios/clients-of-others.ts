import { get, post, type Scenario, type Step } from '../harness/scenario.ts'

const LANGFUSE = '/api/public/v2/prompts'
const LITELLM = '/beta/litellm_prompt_management'

/** What SDKs of other products read, and what each of these addresses refuses. */
export const clientScenarios: readonly Scenario[] = [{ name: 'clients-of-others', steps: steps() }]

function steps(): Step[] {
  return [
    post(
      'a chat',
      '/simple/applications',
      {
        application: {
          slug: 'support-bot',
          tags: { team: 'support' },
          data: {
            uri: 'svc:builtin:completion:v0',
            parameters: {
              prompt: {
                messages: [
                  { role: 'system', content: [{ type: 'text', text: 'You are {kind}.' }] },
                  { role: 'placeholder', name: 'history' },
                  { role: 'user', content: '{{question}}' },
                ],
                template_format: 'curly',
                llm_config: { model: 'gpt-4o-mini', temperature: 0.5 },
              },
              language: 'en',
            },
          },
        },
      },
      { as: 'bot' },
    ),
    post('a text', '/simple/applications', {
      application: {
        slug: 'greeting',
        data: { parameters: { prompt: { user_prompt: 'Hello, {{name}}!' } } },
      },
    }),
    post('an evaluator', '/simple/evaluators', { evaluator: { slug: 'judge', data: { parameters: {} } } }),
    post('deploy the chat', '/applications/revisions/deploy', {
      application_revision_ref: { slug: 'support-bot', version: 1 },
      environment_ref: { slug: 'production' },
    }),
    get('read what runs in production', `${LANGFUSE}/support-bot`),
    get('read by label', `${LANGFUSE}/greeting?label=latest`),
    get('read by version as it is stored', `${LANGFUSE}/support-bot?version=1&resolve=false`),
    get('read a label that is on no version', `${LANGFUSE}/support-bot?label=staging`),
    get('read a version that is not there', `${LANGFUSE}/support-bot?version=2`),
    get('read a version that is none', `${LANGFUSE}/support-bot?version=last`),
    get('read by label and version', `${LANGFUSE}/support-bot?version=1&label=production`),
    get('read what is not there', `${LANGFUSE}/nobody`),
    get('read a name that none can have', `${LANGFUSE}/folder%2Fsupport-bot`),
    get('read what is no application', `${LANGFUSE}/judge?label=latest`),
    get('read at an address that has lost its beginning', '/public/v2/prompts/support-bot'),
    get('list', LANGFUSE),
    get('list a page', `${LANGFUSE}?page=2&limit=1`),
    get('list by name, label and tag', `${LANGFUSE}?name=support-bot&label=production&tag=support`),
    get('list no page', `${LANGFUSE}?page=0`),
    get('read for LiteLLM', `${LITELLM}?prompt_id=support-bot`),
    get('read for LiteLLM by version', `${LITELLM}?prompt_id=greeting@1`),
    get('read for LiteLLM by environment', `${LITELLM}?prompt_id=support-bot&environment=production`),
    get('read for LiteLLM what does not run there', `${LITELLM}?prompt_id=support-bot@staging`),
    get('read for LiteLLM by two versions', `${LITELLM}?prompt_id=support-bot@1&version=2`),
    get('read nothing for LiteLLM', LITELLM),
  ]
}
