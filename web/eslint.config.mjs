// What the linter of the page reports, besides the compiler's own strict checks. tools/lint runs it.
import eslint from '@eslint/js';
import typescript from 'typescript-eslint';

export default typescript.config(
    { ignores: ['dist', 'node_modules'] },
    {
        files: ['src/**/*.ts'],
        extends: [eslint.configs.recommended, ...typescript.configs.recommendedTypeChecked],
        languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
        rules: {
            // An index of a typed array that a loop limits is there; the compiler would need a check for each.
            '@typescript-eslint/no-non-null-assertion': 'off',
            '@typescript-eslint/no-unused-expressions': ['error', { allowTernary: true }],
            'max-lines': ['error', 450],
            complexity: ['error', 20],
            '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
            eqeqeq: 'error',
            'no-console': 'error',
        },
    },
);
