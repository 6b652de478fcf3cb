import tseslint from "typescript-eslint";

export default tseslint.config(
    tseslint.configs.strictTypeChecked,
    tseslint.configs.stylisticTypeChecked,
    {
        languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
        rules: {
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
            "no-console": "error",
        },
    },
    {
        files: ["tests/**"],
        rules: { "@typescript-eslint/no-floating-promises": "off" },
    },
);
