import type { TemplateFormat } from '../template/template-variables.ts'

/** What an editor is told. */
export interface EditorProps {
  /** What is edited, for whoever listens. */
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly language: EditorLanguage
  /** Of a template: how its variables are written. */
  readonly format?: TemplateFormat
  /** Of a template: names that are offered after the braces. */
  readonly names?: readonly string[]
  readonly readOnly?: boolean
  /** It may be looked at, but what is typed is not taken. */
  readonly problem?: string | undefined
}

export type EditorLanguage = 'template' | 'json' | 'javascript' | 'typescript' | 'python'
