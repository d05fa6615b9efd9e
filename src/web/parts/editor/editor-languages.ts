import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import type { EditorLanguage } from './editor-props.ts'

/** What an editor knows of a language; each is loaded when it is first used. */
export async function languageSupport(language: Exclude<EditorLanguage, 'template'>): Promise<Extension> {
  switch (language) {
    case 'json': {
      const [{ json, jsonParseLinter }, { linter, lintGutter, lintKeymap }] = await Promise.all([
        import('@codemirror/lang-json'),
        import('@codemirror/lint'),
      ])
      return [json(), linter(jsonParseLinter(), { delay: 300 }), lintGutter(), keymap.of(lintKeymap)]
    }
    case 'python':
      return (await import('@codemirror/lang-python')).python()
    default: {
      const { javascript } = await import('@codemirror/lang-javascript')
      return javascript({ typescript: language === 'typescript' })
    }
  }
}
